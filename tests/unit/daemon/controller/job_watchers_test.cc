#include "daemon/controller/job_watchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class JobWatchersTest : public ::testing::Test {
 protected:
  std::shared_ptr<const JobWatcher> Watch(JobId job) {
    auto watcher = std::make_shared<const JobWatcher>(
        JobWatcher{[this](const JobView& view, const Allocation*) { told_.push_back(view.state); },
                   [this](const absl::Status& why) { told_.emplace_back(why.message()); }});
    watchers_.Add(job, watcher);
    return watcher;
  }
  void Finish(const absl::Status& status) {
    for (const auto& reply : std::exchange(after_, {})) {
      reply(status);
    }
  }
  static JobView View(const std::string& state) {
    JobView view;
    view.state = state;
    return view;
  }

  JobWatchers watchers_;
  JobWatchers::After after_;
  std::vector<std::string> told_;
};

TEST_F(JobWatchersTest, AChangeIsToldOnceItIsDurableAndOnlyToThoseWhoWatchTheJob) {
  const auto watcher = Watch(JobId(7));
  watchers_.Tell(JobId(7), View("RUNNING"), nullptr, after_);
  watchers_.Tell(JobId(8), View("FAILED"), nullptr, after_);
  EXPECT_THAT(told_, IsEmpty());
  Finish(absl::OkStatus());
  EXPECT_THAT(told_, ElementsAre("RUNNING"));
}

TEST_F(JobWatchersTest, WhatCouldNotBeWrittenLosesTheWatcher) {
  const auto watcher = Watch(JobId(7));
  watchers_.Tell(JobId(7), View("RUNNING"), nullptr, after_);
  Finish(absl::InternalError("disk"));
  EXPECT_THAT(told_, ElementsAre("disk"));
}

TEST_F(JobWatchersTest, WhoDroppedTheHandleIsToldNothing) {
  auto watcher = Watch(JobId(7));
  watchers_.Tell(JobId(7), View("RUNNING"), nullptr, after_);
  watcher.reset();
  Finish(absl::OkStatus());
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_TRUE(watchers_.IsWatched(JobId(7)));
  watchers_.Sweep();
  EXPECT_TRUE(watchers_.empty());
}

TEST_F(JobWatchersTest, AllAreLostAtOnce) {
  const auto one = Watch(JobId(7));
  const auto other = Watch(JobId(8));
  watchers_.LoseAll(absl::UnavailableError("deposed"));
  EXPECT_THAT(told_, ElementsAre("deposed", "deposed"));
  EXPECT_TRUE(watchers_.empty());
}

TEST_F(JobWatchersTest, AnotherReasonForWaitingIsTold) {
  core::testing::World world;
  const JobId job = world.Submit(core::testing::Tasks(1));
  Plan plan;
  plan.waiting.emplace_back();
  plan.waiting.back().job = job;
  plan.waiting.back().reason.kind = ReasonKind::kResources;
  const WaitingReasons now(std::make_shared<const Plan>(plan));
  const auto watcher = Watch(job);
  watchers_.TellOfReasons(now, now, world.state, after_);
  EXPECT_THAT(after_, IsEmpty()) << "the same as before";
  watchers_.TellOfReasons(WaitingReasons(), now, world.state, after_);
  Finish(absl::OkStatus());
  EXPECT_THAT(told_, ElementsAre("PENDING"));
}

}  // namespace
}  // namespace muster::daemon

#include "scheduler/core/handle/submit/recurring_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>

#include "scheduler/base/text/time_text.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using std::chrono::minutes;
using ::testing::HasSubstr;
using testing::Tasks;
using testing::World;

class RecurringJobTest : public ::testing::Test {
 protected:
  RecurringJobTest() { node_ = world_.AddNode("n1"); }

  JobSpec Every(const std::string& fields) {
    JobSpec spec = world_.Spec(Tasks(1));
    spec.every = fields;
    return spec;
  }
  std::string RefusalOf(const std::function<void(JobSpec&)>& change) {
    JobSpec spec = Every("0 * * * *");
    change(spec);
    return std::string(world_.Take(SubmitJob{"token", spec, testing::Script()}).status.message());
  }
  [[nodiscard]] Time BeginOf(JobId job) const { return world_.state.FindJob(job)->spec->begin; }
  // Starts it at its moment, and has it end so a minute later.
  void Run(JobId job, EndCause cause = EndCause::kExited, ExitStatus status = {}) {
    world_.now = BeginOf(job);
    world_.Schedule();
    ASSERT_TRUE(world_.state.FindJob(job)->attempt.has_value());
    world_.TellStarted(node_, job);
    if (cause == EndCause::kCancelled) {
      world_.Take(CancelJob{job, std::nullopt, world_.ada});
    }
    world_.now += minutes(1);
    world_.TellEnded(node_, job, 2, cause, status);
  }

  World world_;
  NodeId node_;
};

TEST_F(RecurringJobTest, ItsFirstRunIsAtTheFirstMomentAndEachOtherAtTheNextAfterItsEnd) {
  const JobId job = world_.Submit(Every("*/10 * * * *"));
  const Time first = BeginOf(job);
  EXPECT_GT(first, world_.now);
  EXPECT_EQ(first.time_since_epoch() % minutes(10), Duration(0));
  world_.Schedule();
  EXPECT_FALSE(world_.state.FindJob(job)->attempt.has_value()) << "not before its moment";
  for (int run = 0; run < 5; ++run) {
    EXPECT_EQ(BeginOf(job), first + run * minutes(10));
    Run(job, EndCause::kExited, ExitStatus{run % 2, 0});
    ASSERT_EQ(world_.StateOf(job), JobState::kPending);
  }
  EXPECT_EQ(world_.state.FindJob(job)->requeues, 0U) << "no run counts as a failure to start";
}

TEST_F(RecurringJobTest, TheEventOfARunsEndSaysHowItEndedAndWhenTheNextIs) {
  const JobId job = world_.Submit(Every("0 * * * *"));
  Run(job, EndCause::kExited, ExitStatus{3, 0});
  std::string text;
  for (const Event& event : world_.events) {
    if (const auto* again = std::get_if<JobRequeued>(&event)) {
      text = again->text;
    }
  }
  EXPECT_THAT(text, HasSubstr("FAILED"));
  EXPECT_THAT(text, HasSubstr("; runs again at " + UtcText(BeginOf(job))));
}

TEST_F(RecurringJobTest, MomentsThatPassWhileItRunsAreLeftOut) {
  const JobId job = world_.Submit(Every("*/10 * * * *"));
  const Time first = BeginOf(job);
  world_.now = first;
  world_.Schedule();
  world_.TellStarted(node_, job);
  world_.now += minutes(25);
  world_.TellEnded(node_, job, 2, EndCause::kExited, {});
  EXPECT_EQ(BeginOf(job), first + minutes(30));
}

TEST_F(RecurringJobTest, ATimeLimitEndsOneRunAndACancellationAll) {
  const JobId job = world_.Submit(Every("0 * * * *"));
  Run(job, EndCause::kTimeLimit);
  EXPECT_EQ(world_.StateOf(job), JobState::kPending);
  Run(job, EndCause::kCancelled);
  ASSERT_TRUE(world_.EndOf(job).has_value());
  EXPECT_EQ(world_.EndOf(job)->state, JobState::kCancelled);
}

TEST_F(RecurringJobTest, OneThatWaitsIsCancelledAsAnyOther) {
  const JobId job = world_.Submit(Every("0 * * * *"));
  world_.Take(CancelJob{job, std::nullopt, world_.ada});
  EXPECT_EQ(world_.EndOf(job)->state, JobState::kCancelled);
}

TEST_F(RecurringJobTest, AnUpdateGivesItOtherMomentsOrNone) {
  const JobId job = world_.Submit(Every("0 * * * *"));
  const Time before = BeginOf(job);
  const auto update = [&](const std::string& fields) {
    JobUpdate changes;
    changes.options = {"every"};
    changes.asked.emplace().every = fields;
    return world_.Take(UpdateJob{job, std::nullopt, std::move(changes), {}, world_.ada}).status;
  };
  ASSERT_TRUE(update("*/5 * * * *").ok());
  EXPECT_LE(BeginOf(job), world_.now + minutes(5));
  EXPECT_FALSE(update("*/0 * * * *").ok());
  ASSERT_TRUE(update("0 * * * *").ok());
  EXPECT_EQ(BeginOf(job), before);
  ASSERT_TRUE(update("").ok());
  EXPECT_EQ(BeginOf(job), before) << "the one that it waits for is its last";
  Run(job);
  EXPECT_EQ(world_.EndOf(job)->state, JobState::kCompleted);
}

TEST_F(RecurringJobTest, ABeginOfItsOwnIsWhenItsMomentsBegin) {
  JobSpec spec = Every("0 * * * *");
  spec.begin = std::chrono::ceil<std::chrono::hours>(world_.now) + std::chrono::hours(5);
  EXPECT_EQ(BeginOf(world_.Submit(spec)), spec.begin);
  spec.begin += minutes(1);
  EXPECT_EQ(BeginOf(world_.Submit(spec)), spec.begin + minutes(59));
}

TEST_F(RecurringJobTest, WhatCannotRunAgainIsRefusedByItsOption) {
  EXPECT_THAT(RefusalOf([](JobSpec& spec) { spec.kind = JobKind::kRun; }),
              HasSubstr("--every: only batch scripts"));
  EXPECT_THAT(RefusalOf([](JobSpec& spec) {
                spec.array = ArraySpec{{ArrayRange{0, 1, 1}}, 0};
              }),
              HasSubstr("--every: not for an array"));
  EXPECT_THAT(RefusalOf([this](JobSpec& spec) { spec.deadline = world_.now + minutes(90); }),
              HasSubstr("--every: excludes --deadline"));
  EXPECT_THAT(RefusalOf([](JobSpec& spec) { spec.every = "0 0 31 2 *"; }),
              HasSubstr("--every: no such day"));
  EXPECT_THAT(RefusalOf([](JobSpec& spec) { spec.every = "noon"; }),
              HasSubstr("--every: \"noon\" has not five fields"));
  EXPECT_THAT(RefusalOf([](JobSpec& spec) { spec.every = std::string(2000, '*'); }),
              HasSubstr("--every: more than 1024 bytes"));
}

}  // namespace
}  // namespace muster::core

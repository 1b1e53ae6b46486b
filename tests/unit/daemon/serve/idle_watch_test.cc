#include "daemon/serve/idle_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <thread>

#include "daemon/agents/live_usage.h"
#include "tests/unit/daemon/controller/controller_rig.h"

namespace muster::daemon {
namespace {

using std::chrono::seconds;
using testing::ControllerTest;

class IdleWatchTest : public ControllerTest {
 protected:
  void TearDown() override {
    watch_.reset();
    ControllerTest::TearDown();
  }
  static IdleRules Rules(std::int64_t percent, IdleAction action) {
    IdleRules rules;
    rules.everywhere = {percent, seconds(10), action};
    return rules;
  }
  void Watch(const IdleRules& rules) {
    watch_ = std::make_unique<IdleWatch>(*controller_, usage_, log_, rules, User{0, 0, "root"},
                                         std::chrono::milliseconds(5));
  }
  void Watch(IdleAction action) { Watch(Rules(5, action)); }
  NodeId RegisterWithGpu() {
    RegisterAgent command;
    command.registration.name = "node1";
    command.registration.instance = "one";
    command.registration.boot_id = "boot";
    command.registration.machine = testing::SmallMachine();
    Gpu gpu;
    gpu.uuid = "GPU-a";
    command.registration.machine.gpus.push_back(gpu);
    return Take(std::move(command)).first.node;
  }
  JobId SubmitWithGpu() {
    SubmitJob command;
    command.token = "gpu";
    command.spec.user = User{1000, 1000, "someone"};
    command.spec.request.gpus.count = 1;
    command.program.script = "#!/bin/sh\n";
    const auto [transition, status] = Take(std::move(command));
    EXPECT_TRUE(status.ok()) << status;
    return transition.job;
  }
  // Ten seconds more, of which its GPU did nothing.
  void Idle(NodeId node, JobId job) {
    UsageSample sample;
    sample.job = job;
    sample.attempt = AttemptNumber(1);
    sample.time = begun_ + seconds(now_ += 10);
    sample.usage.gpu_busy = Duration(1);
    Ask<bool>([&](const StateView& view) {
      usage_.Take(node, {sample}, view.state());
      return true;
    });
  }
  template <class Answer>
  Answer Ask(const std::function<Answer(const StateView&)>& look) {
    std::promise<Answer> promise;
    controller_->Look([&](const StateView& view) -> Controller::Reply {
      Answer answer = look(view);
      return [&promise, answer](const absl::Status&) { promise.set_value(answer); };
    });
    return promise.get_future().get();
  }
  // What holds while the samples go on.
  void Await(NodeId node, JobId job, const std::function<bool(const StateView&)>& holds) {
    const auto end = std::chrono::steady_clock::now() + testing::kPatience;
    while (!Ask<bool>(holds)) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      Idle(node, job);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  // Why its attempt was ordered to end.
  static EndCause EndingOf(const StateView& view, JobId id) {
    const Job* const job = view.state().FindJob(id);
    return job == nullptr || !job->attempt.has_value() ? EndCause::kNone : job->attempt->ending;
  }

  const Time begun_ = clock_.Now() - std::chrono::hours(10);  // samples are never of the future
  int now_ = 0;
  LiveUsage usage_;
  std::unique_ptr<IdleWatch> watch_;
};

TEST_F(IdleWatchTest, AWarningIsTheJobsAndNothingElseHappens) {
  const NodeId node = RegisterWithGpu();
  const JobId job = SubmitWithGpu();
  door_.AwaitLaunch(job);
  EXPECT_TRUE(Report(node, job, 1, RunStarted{clock_.Now(), 42, ""}).ok());
  Watch(IdleAction::kWarn);
  Await(node, job, [&](const StateView& view) {
    return !usage_.WarningsOf(*view.state().FindJob(job)).empty();
  });
  EXPECT_EQ(Ask<EndCause>([&](const StateView& view) { return EndingOf(view, job); }),
            EndCause::kNone);
}

TEST_F(IdleWatchTest, AnIdleJobEndsOnceItIsToEnd) {
  const NodeId node = RegisterWithGpu();
  const JobId job = SubmitWithGpu();
  door_.AwaitLaunch(job);
  EXPECT_TRUE(Report(node, job, 1, RunStarted{clock_.Now(), 42, ""}).ok());
  Watch(IdleAction::kEnd);
  Await(node, job,
        [&](const StateView& view) { return EndingOf(view, job) == EndCause::kCancelled; });
}

TEST_F(IdleWatchTest, AnIdleJobGoesBackToTheQueueOnceItIsToCheckpoint) {
  const NodeId node = RegisterWithGpu();
  const JobId job = SubmitWithGpu();
  door_.AwaitLaunch(job);
  EXPECT_TRUE(Report(node, job, 1, RunStarted{clock_.Now(), 42, ""}).ok());
  Watch(IdleAction::kCheckpoint);
  Await(node, job,
        [&](const StateView& view) { return EndingOf(view, job) == EndCause::kRequeued; });
}

TEST_F(IdleWatchTest, OtherRulesCountFromTheNextLookOnAndWithoutRulesNoWarningIsLeft) {
  const NodeId node = RegisterWithGpu();
  const JobId job = SubmitWithGpu();
  door_.AwaitLaunch(job);
  EXPECT_TRUE(Report(node, job, 1, RunStarted{clock_.Now(), 42, ""}).ok());
  const auto warned = [&](const StateView& view) {
    return !usage_.WarningsOf(*view.state().FindJob(job)).empty();
  };
  Watch(IdleRules());
  for (int i = 0; i < 5; ++i) {
    Idle(node, job);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_FALSE(Ask<bool>(warned)) << "nothing is said of idle GPUs";
  watch_->Use(Rules(5, IdleAction::kWarn));
  Await(node, job, warned);
  watch_->Use(IdleRules());
  Await(node, job, [&](const StateView& view) { return !warned(view); });
  watch_->Use(Rules(5, IdleAction::kEnd));
  Await(node, job,
        [&](const StateView& view) { return EndingOf(view, job) == EndCause::kCancelled; });
}

}  // namespace
}  // namespace muster::daemon

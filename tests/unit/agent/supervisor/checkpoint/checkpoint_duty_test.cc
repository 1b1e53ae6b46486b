#include "agent/supervisor/checkpoint/checkpoint_duty.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "tests/unit/agent/supervisor/attempt_parts.h"

namespace muster::agent {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

class CheckpointDutyTest : public AttemptParts {
 protected:
  // A warning that is sent when the loop turns.
  void Warn() {
    order_.launch.spec.warning = {SIGUSR1, seconds(60), true, true};
    warning_.Plan(hours(1), seconds(1), Duration(0));
    Turn(milliseconds(20));
    ASSERT_TRUE(warning_.sent().has_value());
  }
  void EndWith(int code) {
    end_.TakeMainStep({.code = code, .signal = 0}, "", "", clock_.SteadyNow());
    end_.EndByItself();
  }

  std::vector<Duration> slow_;
  int answers_ = 0;
  CheckpointDuty duty_{*loop_,
                       clock_,
                       log_,
                       order_,
                       reporter_,
                       end_,
                       {.before_look = [] {},
                        .on_slow = [this](Duration slow) { slow_.push_back(slow); },
                        .on_answered = [this] { ++answers_; }}};
  EndWarning warning_{*loop_, clock_,
                      log_,   order_.launch.spec.warning,
                      end_,   {.begun = [] { return true; }, .send = [] { return true; }}};
};

TEST_F(CheckpointDutyTest, AJobWhosePagesCannotBeMadeIsToldOfNone) {
  order_.checkpoint_hints = state_ / "nothing/hints";
  order_.checkpoint_progress = state_ / "nothing/progress";
  duty_.MakePages(&order_);
  EXPECT_EQ(order_.checkpoint_hints, "");
  EXPECT_EQ(order_.checkpoint_progress, "");
  duty_.Watch();
  duty_.AnnounceEnd(EndCause::kPreempted, clock_.Now() + hours(1));
  Turn(milliseconds(150));
  EXPECT_EQ(answers_, 0) << "nobody can answer";
}

TEST_F(CheckpointDutyTest, AJobThatCriuSavesHasNoPages) {
  order_.launch.spec.checkpoint_with = CheckpointMeans::kCriu;
  order_.checkpoint_hints = directory_.CheckpointHints();
  order_.checkpoint_progress = directory_.CheckpointProgress();
  duty_.MakePages(&order_);
  EXPECT_EQ(order_.checkpoint_hints, "");
  EXPECT_EQ(order_.checkpoint_progress, "");
}

TEST_F(CheckpointDutyTest, WhoAskedForCheckpointsAndMakesNoneIsOverdue) {
  order_.checkpoint_hints = directory_.CheckpointHints();
  order_.checkpoint_progress = directory_.CheckpointProgress();
  order_.launch.program.environment = {"MUSTER_CHECKPOINT_INTERVAL=600"};
  order_.launch.started = clock_.Now() - seconds(1790);
  duty_.MakePages(&order_);
  EXPECT_FALSE(duty_.Overdue().has_value());
  order_.launch.started = clock_.Now() - seconds(1810);
  ASSERT_TRUE(duty_.Overdue().has_value());
  EXPECT_EQ(duty_.Overdue()->rule, "CheckpointOverdue");
  EXPECT_EQ(duty_.Overdue()->since, order_.launch.started + seconds(600));
  checkpoint::ProgressReport page;
  checkpoint::SlotReport slot;
  slot.index = 0;
  slot.pid = static_cast<std::uint32_t>(getpid());
  slot.serial = 1;
  slot.commits = 1;
  slot.begun_ms = slot.ended_ms = 1;
  page.slots = {slot};
  duty_.ReadFrom([page] { return page; });
  duty_.Report(false);
  EXPECT_FALSE(duty_.Overdue().has_value()) << "it has made one";
}

TEST_F(CheckpointDutyTest, WhoAskedForNoIntervalOwesNoCheckpoint) {
  order_.checkpoint_hints = directory_.CheckpointHints();
  order_.checkpoint_progress = directory_.CheckpointProgress();
  order_.launch.started = clock_.Now() - hours(1000);
  duty_.MakePages(&order_);
  EXPECT_FALSE(duty_.Overdue().has_value());
}

TEST_F(CheckpointDutyTest, OlderAdviceIsNoNews) {
  CheckpointAdvice advice;
  advice.number = 3;
  advice.slow = seconds(7);
  EXPECT_TRUE(duty_.Advise(advice));
  EXPECT_FALSE(duty_.Advise(advice));
  EXPECT_EQ(duty_.Slow(), seconds(7)) << "as long as nothing is measured here";
}

TEST_F(CheckpointDutyTest, TheWayFromTheWarningToTheRequeueCodeIsMeasured) {
  order_.launch.spec.requeue_exit = 85;
  Warn();
  Turn(milliseconds(50));
  EndWith(85);
  duty_.LearnFrom(warning_, nullptr, work_ / "none");
  EXPECT_GE(duty_.Slow(), Duration(50));
  duty_.Report(true);
  ASSERT_EQ(Facts<RunCheckpointed>().size(), 1U);
  EXPECT_EQ(Facts<RunCheckpointed>()[0].record.slow, duty_.Slow());
  duty_.Report(true);
  EXPECT_EQ(Facts<RunCheckpointed>().size(), 1U) << "it has not changed";
}

TEST_F(CheckpointDutyTest, WithoutThatCodeTheNewestFileOfItsDirectoryIs) {
  Warn();
  Turn(milliseconds(50));
  std::filesystem::create_directory(work_ / "state");
  std::ofstream(work_ / "state/file") << "x\n";
  EndWith(0);
  duty_.LearnFrom(warning_, nullptr, work_ / "state");
  EXPECT_GE(duty_.Slow(), Duration(40));
}

TEST_F(CheckpointDutyTest, WhoWasNotWarnedTeachesNothing) {
  order_.launch.spec.requeue_exit = 85;
  EndWith(85);
  duty_.LearnFrom(warning_, nullptr, work_.path());
  EXPECT_EQ(duty_.Slow(), Duration(0));
  duty_.Report(true);
  EXPECT_TRUE(Facts<RunCheckpointed>().empty());
}

}  // namespace
}  // namespace muster::agent

// The work of an attempt with all that it works with, but for the Supervisor.
#include "agent/supervisor/attempt_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "agent/supervisor/checkpoint/checkpoint_duty.h"
#include "agent/supervisor/criu/criu_duty.h"
#include "agent/supervisor/ending/termination.h"
#include "tests/unit/agent/supervisor/attempt_parts.h"

namespace muster::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

class AttemptWorkTest : public AttemptParts {
 protected:
  AttemptWorkTest() {
    EXPECT_TRUE(confinement_.Make(0).ok());
    order_.hostfile = directory_.Hostfile();
    order_.launch.program.mpi = MpiFlavour::kNone;
    before_reap_ = [this](pid_t pid) {
      owner_ = work_.steps().Find(pid);
      if (owner_ != nullptr) {
        owner_->BeforeReap(pid);
      }
    };
    reaped_ = [this](pid_t pid, int status, const rusage& usage) {
      if (owner_ != nullptr) {
        owner_->Reaped(pid, status, usage);
      }
    };
  }

  StepOrder OrderOf(std::uint32_t step, const std::string& script) const {
    StepOrder order;
    order.step = StepId(step);
    order.program = order_.launch.program;
    order.program.argv = {"sh", "-c", script};
    order.placement = Placement(1);
    return order;
  }
  void Suspend(std::uint32_t number, bool resume) {
    SuspendOrder order;
    order.suspension = number;
    order.resume = resume;
    EXPECT_TRUE(suspension_.Take(order));
    Turn(milliseconds(20));
  }

  Confinement confinement_{directory_, order_};
  Suspension suspension_{
      *loop_, clock_, log_, reporter_, {.on_suspended = [] {}, .on_resumed = [] {}}};
  Termination termination_{
      *loop_, end_, suspension_, {.copying = [] { return false; }, .on_kill = [] {}}};
  CheckpointDuty checkpoints_{
      *loop_,
      clock_,
      log_,
      order_,
      reporter_,
      end_,
      {.before_look = [] {}, .on_slow = [](Duration) {}, .on_answered = [] {}}};
  CriuDuty criu_{
      {*loop_, clock_, log_, order_, end_, suspension_, termination_, checkpoints_},
      {.leader = [] { return 0; }, .begin = [this] { work_.BeginBatch(); }, .on_give_up = [] {}}};
  ScriptRuns scripts_{{*loop_, log_, directory_, order_, end_},
                      {.on_prolog = [this] { work_.Begin(); },
                       .on_prolog_failed = [] {},
                       .on_epilog = [] {},
                       .on_recalled = [] {}}};
  std::string failed_;
  int main_ends_ = 0;
  int step_ends_ = 0;
  AttemptWork work_{
      {*loop_, clock_, log_, directory_, order_, reporter_, confinement_},
      {end_, confinement_, suspension_, scripts_, criu_, order_},
      {.on_failed = [this](const absl::Status& why) { failed_ = std::string(why.message()); },
       .on_main_ended =
           [this] {
             ++main_ends_;
             end_.EndByItself();
           },
       .on_step_ended = [this] { ++step_ends_; }}};

 private:
  Step* owner_ = nullptr;
};

TEST_F(AttemptWorkTest, TheEndOfTheScriptIsThatOfTheAttempt) {
  Batch("exit 6");
  scripts_.RunProlog(0, nullptr);
  ASSERT_TRUE(TurnUntil([this] { return main_ends_ == 1; }));
  EXPECT_EQ(step_ends_, 1);
  EXPECT_EQ(end_.status().code, 6);
  EXPECT_EQ(Facts<RunStarted>().size(), 1U);
}

TEST_F(AttemptWorkTest, TheEndOfAnotherStepIsNot) {
  Batch("while [ ! -e done ]; do sleep 0.01; done");
  scripts_.RunProlog(0, nullptr);
  EXPECT_TRUE(work_.Take(OrderOf(3, "exit 5")).ok());
  EXPECT_TRUE(work_.Take(OrderOf(3, "touch again")).ok()) << "it is started once";
  ASSERT_TRUE(TurnUntil([this] { return step_ends_ == 1; }));
  EXPECT_EQ(main_ends_, 0);
  EXPECT_FALSE(end_.ending());
  EXPECT_TRUE(end_.status().success());
  EXPECT_FALSE(Made("again"));
}

TEST_F(AttemptWorkTest, AJobWhoseDataCannotBeBroughtDoesNotBegin) {
  order_.launch.spec.node_data = {"/archive/x"};
  AttemptWork work(
      {*loop_, clock_, log_, directory_, order_, reporter_, confinement_},
      {end_, confinement_, suspension_, scripts_, criu_, order_},
      {.on_failed = [this](const absl::Status& why) { failed_ = std::string(why.message()); },
       .on_main_ended = [] {},
       .on_step_ended = [] {}});
  work.Begin();
  EXPECT_FALSE(work.begun());
  ASSERT_TRUE(TurnUntil([this] { return !failed_.empty(); }));
  EXPECT_THAT(failed_, ::testing::HasSubstr("--stage-in-node: this node makes no copies"));
  EXPECT_FALSE(work.begun());
}

TEST_F(AttemptWorkTest, NothingBeginsBeforeTheProlog) {
  Batch("touch script; while [ ! -e done ]; do sleep 0.01; done");
  EXPECT_TRUE(work_.Take(OrderOf(3, "touch step")).ok());
  Turn(milliseconds(50));
  EXPECT_FALSE(work_.begun());
  EXPECT_FALSE(Made("script") || Made("step"));
  scripts_.RunProlog(0, nullptr);
  EXPECT_TRUE(work_.begun());
  EXPECT_TRUE(TurnUntil([this] { return Made("script") && Made("step"); }));
}

TEST_F(AttemptWorkTest, NothingBeginsWhileItIsSuspended) {
  Batch("touch script; while [ ! -e done ]; do sleep 0.01; done");
  Suspend(1, false);
  scripts_.RunProlog(0, nullptr);
  EXPECT_TRUE(work_.Take(OrderOf(3, "touch step")).ok());
  Turn(milliseconds(50));
  EXPECT_FALSE(work_.begun());
  EXPECT_FALSE(Made("script") || Made("step"));
  Suspend(2, true);
  work_.GoOn();
  EXPECT_TRUE(TurnUntil([this] { return Made("script") && Made("step"); }));
}

TEST_F(AttemptWorkTest, AnAttemptThatEndsStartsNoStep) {
  Batch("while [ ! -e done ]; do sleep 0.01; done");
  scripts_.RunProlog(0, nullptr);
  end_.Force(EndCause::kCancelled, "");
  const absl::Status refused = work_.Take(OrderOf(3, "touch step"));
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("7.1 is ending"));
}

TEST_F(AttemptWorkTest, ANodeWithoutTheScriptOnlyWaitsForSteps) {
  Batch("touch script");
  order_.launch.allocation.nodes.insert(order_.launch.allocation.nodes.begin(), NodeAllocation());
  order_.launch.allocation.nodes.front().name = "first";
  scripts_.RunProlog(1, nullptr);
  EXPECT_EQ(Facts<RunStarted>().size(), 1U) << "at once: it is ready for steps";
  EXPECT_TRUE(work_.Take(OrderOf(1, "touch step")).ok());
  ASSERT_TRUE(TurnUntil([this] { return step_ends_ == 1; }));
  EXPECT_EQ(main_ends_, 0);
  EXPECT_TRUE(Made("step"));
  EXPECT_FALSE(Made("script"));
}

TEST_F(AttemptWorkTest, WithoutAPartInTheAllocationItFails) {
  order_.node_name = "stranger";
  scripts_.RunProlog(0, nullptr);
  EXPECT_THAT(failed_, HasSubstr("node stranger has no part in it"));
}

TEST_F(AttemptWorkTest, WithoutCriuAnEndTerminatesAtOnce) {
  Batch("touch script; while [ ! -e done ]; do sleep 0.01; done");
  scripts_.RunProlog(0, nullptr);
  ASSERT_TRUE(TurnUntil([this] { return Made("script"); }));
  criu_.DumpWhenDue();
  end_.Force(EndCause::kPreempted, "");
  criu_.End(EndCause::kPreempted, Duration(10000));
  ASSERT_TRUE(TurnUntil([this] { return step_ends_ == 1; }));
  EXPECT_EQ(end_.status().signal, SIGTERM);
}

}  // namespace
}  // namespace muster::agent

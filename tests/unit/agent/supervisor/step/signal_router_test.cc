#include "agent/supervisor/step/signal_router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>

#include "tests/unit/agent/supervisor/attempt_steps_fixture.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

// A script and two steps run; each process of theirs says that it was signalled by a file, of a
// step the number of the step and the rank after its name.
class SignalRouterTest : public AttemptStepsFixture {
 protected:
  SignalRouterTest() {
    steps_.Launch(BatchPlan(Heeding("script")));
    steps_.Launch(PlanOf(1, Heeding("$SLURM_STEP_ID.$SLURM_PROCID"), 2));
    steps_.Launch(PlanOf(2, Heeding("$SLURM_STEP_ID.$SLURM_PROCID")));
    EXPECT_TRUE(TurnUntil([this] {
      return Made("ready.script") && Made("ready.1.0") && Made("ready.1.1") && Made("ready.2.0");
    }));
  }

  static std::string Heeding(const std::string& name) {
    return "trap 'touch signalled." + name + "' USR1; touch ready." + name +
           "; while :; do sleep 0.01; done";
  }
  static SignalOrder Order(int signal, SignalScope scope) {
    SignalOrder order;
    order.signal = static_cast<std::uint32_t>(signal);
    order.scope = scope;
    return order;
  }
  // Who was signalled, once all that was sent has had its time.
  std::string Signalled() {
    Turn(std::chrono::milliseconds(300));
    std::string who;
    for (const char* name : {"script", "1.0", "1.1", "2.0"}) {
      who += Made(std::string("signalled.") + name) ? std::string(name) + " " : "";
    }
    return who;
  }

  const SignalRouter router_{log_, steps_.running(), "7.1", Duration(10000)};
};

TEST_F(SignalRouterTest, OfAStepAllRanksAreMeantAndNoOther) {
  SignalOrder order = Order(SIGUSR1, SignalScope::kSteps);
  order.step = StepId(1);
  EXPECT_TRUE(router_.Take(order).ok());
  EXPECT_EQ(Signalled(), "1.0 1.1 ");
}

TEST_F(SignalRouterTest, ThatOfTheStepsSparesTheScript) {
  EXPECT_TRUE(router_.Take(Order(SIGUSR1, SignalScope::kSteps)).ok());
  EXPECT_EQ(Signalled(), "1.0 1.1 2.0 ");
}

TEST_F(SignalRouterTest, ThatOfTheScriptSparesTheSteps) {
  EXPECT_TRUE(router_.Take(Order(SIGUSR1, SignalScope::kBatch)).ok());
  EXPECT_EQ(Signalled(), "script ");
}

TEST_F(SignalRouterTest, ThatForAllReachesAll) {
  EXPECT_TRUE(router_.Take(Order(SIGUSR1, SignalScope::kFull)).ok());
  EXPECT_TRUE(TurnUntil([this] { return Made("signalled.script") && Made("signalled.2.0"); }));
}

TEST_F(SignalRouterTest, SignalZeroEndsTheStep) {
  SignalOrder order = Order(0, SignalScope::kSteps);
  order.step = StepId(2);
  EXPECT_TRUE(router_.Take(order).ok());
  ASSERT_TRUE(TurnUntil([this] { return ended_.size() == 1; }));
  EXPECT_EQ(ended_[0]->plan().step, StepId(2));
  EXPECT_EQ(ended_[0]->verdict().status().signal, SIGTERM);
}

TEST_F(SignalRouterTest, AStepThatDoesNotRunHereIsNamed) {
  SignalOrder order = Order(SIGUSR1, SignalScope::kSteps);
  order.step = StepId(9);
  const absl::Status refused = router_.Take(order);
  EXPECT_TRUE(absl::IsNotFound(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("step 9 of 7.1 does not run here"));
  AttachOrder look;
  look.step = StepId(9);
  EXPECT_TRUE(absl::IsNotFound(router_.Take(look)));
  EXPECT_EQ(Signalled(), "");
}

TEST_F(SignalRouterTest, AWarningIsForTheScriptOrForTheRanks) {
  EXPECT_TRUE(router_.Warn({SIGUSR1, Duration(0), false, true}));
  EXPECT_EQ(Signalled(), "script ");
  EXPECT_TRUE(router_.Warn({SIGUSR1, Duration(0), false, false}));
  EXPECT_EQ(Signalled(), "script 1.0 1.1 2.0 ");
}

TEST_F(SignalRouterTest, NobodyIsWarnedWhereNobodyRuns) {
  const StepMap none;
  const SignalRouter router(log_, none, "7.1", Duration(0));
  EXPECT_FALSE(router.Warn({SIGUSR1, Duration(0), false, true}));
  EXPECT_FALSE(router.Warn({SIGUSR1, Duration(0), false, false}));
  EXPECT_TRUE(router.Take(Order(SIGUSR1, SignalScope::kSteps)).ok());
  EXPECT_TRUE(absl::IsNotFound(router.Take(Order(SIGUSR1, SignalScope::kBatch))));
}

}  // namespace
}  // namespace muster::agent

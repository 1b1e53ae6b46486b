#include "agent/supervisor/attempt_steps.h"

#include <gtest/gtest.h>

#include "tests/unit/agent/supervisor/attempt_steps_fixture.h"

namespace muster::agent {
namespace {

class AttemptStepsTest : public AttemptStepsFixture {};

TEST_F(AttemptStepsTest, TheEndOfAStepIsToldOnceItRunsNoLonger) {
  steps_.Launch(PlanOf(3, "exit 4", 2));
  EXPECT_EQ(steps_.running().size(), 1U);
  ASSERT_TRUE(TurnUntil([this] { return !ended_.empty(); }));
  EXPECT_TRUE(steps_.running().empty());
  EXPECT_EQ(ended_[0]->plan().step, StepId(3));
  EXPECT_EQ(ended_[0]->verdict().status().code, 4);
  ASSERT_EQ(started_.size(), 1U);
  EXPECT_EQ(started_[0], StepId(3));
}

TEST_F(AttemptStepsTest, AStepThatWasTakenStaysTaken) {
  EXPECT_FALSE(steps_.IsTaken(StepId(1)));
  steps_.Take(StepId(1));
  EXPECT_TRUE(steps_.IsTaken(StepId(1)));
  steps_.Launch(PlanOf(2, "exit 0"));
  ASSERT_TRUE(TurnUntil([this] { return !ended_.empty(); }));
  EXPECT_TRUE(steps_.IsTaken(StepId(2)));
}

TEST_F(AttemptStepsTest, AStepThatCannotStartIsNotSaidToRun) {
  StepPlan plan = PlanOf(1, "");
  plan.program.argv = {"no-such-command-here"};
  steps_.Launch(std::move(plan));
  ASSERT_TRUE(TurnUntil([this] { return !ended_.empty(); }));
  EXPECT_TRUE(started_.empty());
  EXPECT_EQ(ended_[0]->verdict().status().code, 127);
  EXPECT_NE(ended_[0]->verdict().launch_error().find("not found along PATH"), std::string::npos);
}

TEST_F(AttemptStepsTest, TheScriptCanBeSavedWhileItRunsAlone) {
  EXPECT_EQ(steps_.LoneScript(), 0);
  steps_.Launch(BatchPlan("touch ready; while [ ! -e done ]; do sleep 0.01; done"));
  ASSERT_TRUE(TurnUntil([this] { return Made("ready") && !started_.empty(); }));
  const pid_t script = steps_.LoneScript();
  EXPECT_GT(script, 0);
  EXPECT_NE(steps_.Find(script), nullptr);
  steps_.Launch(PlanOf(1, "touch begun; while [ ! -e done ]; do sleep 0.01; done"));
  EXPECT_EQ(steps_.LoneScript(), 0) << "a step of it runs";
  ASSERT_TRUE(TurnUntil([this] { return Made("begun"); }));
  steps_.running().at(StepId(1))->Terminate(Duration(10000));
  ASSERT_TRUE(TurnUntil([this] { return ended_.size() == 1; }));
  EXPECT_EQ(steps_.LoneScript(), script);
}

}  // namespace
}  // namespace muster::agent

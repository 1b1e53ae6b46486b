#include "agent/supervisor/container/attempt_containers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/agent/supervisor/attempt_steps_fixture.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

class AttemptContainersTest : public AttemptStepsFixture {};

TEST_F(AttemptContainersTest, ANodeWithoutARuntimeSaysWhatItLacks) {
  AttemptContainers containers(*loop_, log_, directory_, order_);
  ContainerSpec spec{.image = "alpine:3"};
  std::vector<std::string> answers;
  const auto take = [&answers](const absl::StatusOr<const Container*>& made) {
    answers.emplace_back(made.status().message());
  };
  containers.Enter(spec, take);
  containers.Enter(spec, take);
  EXPECT_TRUE(answers.empty()) << "it comes from the loop";
  ASSERT_TRUE(TurnUntil([&answers] { return answers.size() == 2; }));
  EXPECT_THAT(answers[0], HasSubstr("this node cannot run containers: install crun"));
  EXPECT_EQ(containers.ImageOf(spec), "");
}

TEST_F(AttemptContainersTest, AStepWhoseContainerCannotBeMadeFailsInWords) {
  StepPlan plan = PlanOf(1, "exit 0");
  plan.container.image = "alpine:3";
  steps_.Launch(std::move(plan));
  ASSERT_TRUE(TurnUntil([this] { return !ended_.empty(); }));
  EXPECT_TRUE(started_.empty());
  EXPECT_EQ(ended_[0]->verdict().status().code, 126);
  EXPECT_THAT(ended_[0]->verdict().launch_error(), HasSubstr("install crun"));
}

TEST_F(AttemptContainersTest, RanksBeginWhereTheyAreToldOrTheImageSays) {
  Container container;
  EXPECT_EQ(container.WorkDir(), "/");
  container.facts.work_dir = "srv";
  EXPECT_EQ(container.WorkDir(), "/srv");
  container.spec.work_dir = "/data";
  EXPECT_EQ(container.WorkDir(), "/data");
}

}  // namespace
}  // namespace muster::agent

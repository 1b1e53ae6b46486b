#include "agent/supervisor/joined_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "scheduler/model/value/joined_rank.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;

// A job with two CPUs and a GPU of n1, which a step of one CPU enters.
SupervisorOrder Order() {
  SupervisorOrder order;
  order.node_name = "n1";
  order.launch.program.environment = {"DATA=/d", "TERM=dumb"};
  order.launch.program.umask = 027;
  NodeAllocation part;
  part.name = "n1";
  part.cpus = *CpuSet::Parse("2-3");
  part.gpus = {GpuGrant{1, kWholeGpu}};
  part.memory = Bytes(1 << 20);
  order.launch.allocation.nodes = {part};
  return order;
}

StepPlan Plan(std::vector<std::string> environment) {
  StepPlan plan;
  plan.step = StepId(4);
  plan.program.environment = std::move(environment);
  NodeAllocation part;
  part.name = "n1";
  part.cpus = *CpuSet::Parse("2");
  part.ranks.resize(1);
  part.ranks[0].cpus = part.cpus;
  plan.placement.nodes = {part};
  return plan;
}

TEST(JoinedStep, AStepThatSaysNothingIsLeftAsItIs) {
  StepPlan plan = Plan({"A=b"});
  EXPECT_TRUE(JoinJob(Order(), {}, &plan).ok());
  EXPECT_THAT(plan.program.environment, ElementsAre("A=b"));
  EXPECT_EQ(plan.node().cpus.ToList(), "2");
}

TEST(JoinedStep, WhoEntersTheJobHasItsEnvironmentAndAllThatItHasHere) {
  StepPlan plan = Plan({ToVariable(JoinedRank{}), "TERM=xterm"});
  EXPECT_TRUE(JoinJob(Order(), {}, &plan).ok());
  EXPECT_THAT(plan.program.environment, ElementsAre("DATA=/d", "TERM=xterm"));
  EXPECT_EQ(plan.program.umask, 027U);
  EXPECT_EQ(plan.node().cpus.ToList(), "2-3");
  EXPECT_EQ(plan.node().ranks[0].cpus.ToList(), "2-3");
  EXPECT_THAT(plan.node().ranks[0].gpus, ElementsAre(1U));
  EXPECT_EQ(plan.beside, nullptr);
}

TEST(JoinedStep, ARankThatIsNotHereIsRefused) {
  StepPlan plan = Plan({ToVariable(JoinedRank{StepId(1), 3})});
  const absl::Status refused = JoinJob(Order(), {}, &plan);
  EXPECT_EQ(refused, absl::NotFoundError("rank 3 of step 1 does not run on n1"));
}

}  // namespace
}  // namespace muster::agent

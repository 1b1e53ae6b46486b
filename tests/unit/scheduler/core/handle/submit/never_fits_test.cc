// Whether a job could run on the nodes that are known, if they were all there and empty.

#include "scheduler/core/handle/submit/never_fits.h"

#include <gtest/gtest.h>

#include "scheduler/core/handle/submit/validate.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::Tasks;
using testing::World;

class NeverFitsTest : public ::testing::Test {
 protected:
  NeverFitsTest() {
    world.AddNode("n1");
    world.AddNode("n2");
  }
  Transition Submit(const JobSpec& spec, bool refuse) {
    SubmitJob command{absl::StrCat(1'000'000 + ++tokens, std::string(25, 'a')),
                      spec,
                      testing::Script(),
                      {},
                      {},
                      refuse};
    command.spec.user = world.ada;
    return world.Take(command);
  }

  static JobSpec Normal(JobSpec spec) {
    return Normalise(std::move(spec), SchedulerConfig()).value();
  }

  World world;
  int tokens = 0;
};

TEST_F(NeverFitsTest, WhatFitsOnEmptyNodesIsTakenWithoutARemark) {
  world.Submit(Tasks(8));
  world.Schedule();
  EXPECT_FALSE(
      WhyNeverFits(world.state, Normal(world.Spec(Tasks(8))), world.config.power).has_value());
  const Transition transition = Submit(world.Spec(Tasks(8)), true);
  EXPECT_TRUE(transition.status.ok());
  EXPECT_EQ(transition.remark, "");
}

TEST_F(NeverFitsTest, WhatIsTooLargeIsTakenWithARemarkOrRefused) {
  const Transition taken = Submit(world.Spec(Tasks(9)), false);
  EXPECT_TRUE(taken.status.ok());
  EXPECT_EQ(taken.remark.rfind("never on this cluster: 2 nodes: ", 0), 0U) << taken.remark;
  const Transition refused = Submit(world.Spec(Tasks(9)), true);
  EXPECT_EQ(refused.status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(refused.events.empty());
}

TEST_F(NeverFitsTest, DownAndDrainedNodesCountAsTheyMayComeBack) {
  world.Take(DrainNode{"n1", true, "fan"});
  world.Take(DrainNode{"n2", true, "fan"});
  EXPECT_FALSE(
      WhyNeverFits(world.state, Normal(world.Spec(Tasks(8))), world.config.power).has_value());
}

TEST_F(NeverFitsTest, ANameOrAFeatureThatNoNodeHasIsSaid) {
  ResourceRequest named = Tasks(1);
  named.nodelist = {"n7"};
  const auto why = WhyNeverFits(world.state, Normal(world.Spec(named)), world.config.power);
  ASSERT_TRUE(why.has_value());
  EXPECT_NE(ToSentence(*why).find("n7"), std::string::npos);
  named.nodelist = {"n2"};
  EXPECT_FALSE(
      WhyNeverFits(world.state, Normal(world.Spec(named)), world.config.power).has_value());
}

TEST_F(NeverFitsTest, OneAlternativeThatFitsIsEnough) {
  JobSpec spec = world.Spec(Tasks(9));
  spec.alternatives = {{spec.request, spec.time_limit},
                       {testing::Normal(Tasks(2)).request, spec.time_limit}};
  EXPECT_FALSE(WhyNeverFits(world.state, Normal(spec), world.config.power).has_value());
}

TEST_F(NeverFitsTest, MoreNodesThanMayBeOnAtOnceAreToldOrRefused) {
  PowerClass cloud;
  cloud.name = "cloud";
  cloud.nodes = "ALL";
  cloud.most_on = 1;
  world.config.power = {cloud};
  EXPECT_EQ(Submit(world.Spec(Tasks(4)), true).remark, "");
  EXPECT_EQ(Submit(world.Spec(Tasks(8)), false).remark,
            "never on this cluster: 2 nodes: 1 with room for 4 of 8 tasks, at most 1 can be on at "
            "once (max_on of [power.cloud])");
  EXPECT_EQ(Submit(world.Spec(Tasks(8)), true).status.code(),
            absl::StatusCode::kFailedPrecondition);
  world.config.power.front().most_on = 2;
  EXPECT_EQ(Submit(world.Spec(Tasks(8)), true).remark, "");
}

TEST_F(NeverFitsTest, WithoutNodesNothingIsSaid) {
  const World empty;
  EXPECT_FALSE(
      WhyNeverFits(empty.state, Normal(empty.Spec(Tasks(9))), empty.config.power).has_value());
}

}  // namespace
}  // namespace muster::core

#include "scheduler/core/plan/start/shape_verdicts.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/plan/cycle/one_cycle.h"

namespace muster::core {
namespace {

using testing::OneCycle;
using testing::WholeNodes;

class ShapeVerdictsTest : public ::testing::Test {
 protected:
  ShapeVerdictsTest() {
    world_.AddNode("n1");
    world_.AddNode("n2");
  }
  testing::World world_;
};

TEST_F(ShapeVerdictsTest, AJobThatTheNodesHoldNeverFitsNoLess) {
  const JobId job = world_.Submit(WholeNodes(world_, 2));
  OneCycle cycle(world_);
  ShapeVerdicts verdicts(cycle.state.snapshot, cycle.state.availability, cycle.state.power);
  EXPECT_FALSE(verdicts.NeverFits(cycle.OptionOf(job)));
  EXPECT_TRUE(verdicts.MayStart(cycle.OptionOf(job)));
  EXPECT_FALSE(verdicts.WhyNever(cycle.OptionsOf(job)).has_value());
  EXPECT_EQ(verdicts.WhyReserved(cycle.OptionOf(job)), nullptr);
}

TEST_F(ShapeVerdictsTest, AJobLargerThanTheClusterNeverFitsAndSaysWhy) {
  const JobId job = world_.Submit(WholeNodes(world_, 3));
  OneCycle cycle(world_);
  ShapeVerdicts verdicts(cycle.state.snapshot, cycle.state.availability, cycle.state.power);
  EXPECT_TRUE(verdicts.MayStart(cycle.OptionOf(job)));  // it is not asked for yet
  EXPECT_TRUE(verdicts.NeverFits(cycle.OptionOf(job)));
  EXPECT_FALSE(verdicts.MayStart(cycle.OptionOf(job)));
  EXPECT_EQ(verdicts.WhyNever(cycle.OptionOf(job)).verdict, ReasonClass::kNever);
  EXPECT_EQ(verdicts.WhyNever(cycle.OptionsOf(job)), verdicts.WhyNever(cycle.OptionOf(job)));
}

TEST_F(ShapeVerdictsTest, AJobForMoreNodesThanMayBeOnAtOnceNeverFitsAndSaysWhy) {
  PowerClass cloud;
  cloud.name = "cloud";
  cloud.nodes = "n[1-2]";
  cloud.most_on = 1;
  world_.config.power = {cloud};
  const JobId wide = world_.Submit(WholeNodes(world_, 2));
  const JobId one = world_.Submit(WholeNodes(world_, 1));
  OneCycle cycle(world_);
  ShapeVerdicts verdicts(cycle.state.snapshot, cycle.state.availability, cycle.state.power);
  EXPECT_TRUE(verdicts.NeverFits(cycle.OptionOf(wide)));
  EXPECT_EQ(verdicts.WhyNever(cycle.OptionOf(wide)).shortages.back().kind, ShortageKind::kOnAtOnce);
  EXPECT_FALSE(verdicts.NeverFits(cycle.OptionOf(one)));
}

TEST_F(ShapeVerdictsTest, AShapeThatIsRuledOutMayNotStartThoughItFits) {
  const JobId job = world_.Submit(WholeNodes(world_, 1));
  const JobId other = world_.Submit(WholeNodes(world_, 2));
  OneCycle cycle(world_);
  ShapeVerdicts verdicts(cycle.state.snapshot, cycle.state.availability, cycle.state.power);
  verdicts.RuleOut(cycle.OptionOf(job));
  EXPECT_FALSE(verdicts.MayStart(cycle.OptionOf(job)));
  EXPECT_FALSE(verdicts.NeverFits(cycle.OptionOf(job)));
  EXPECT_TRUE(verdicts.MayStart(cycle.OptionOf(other)));
}

}  // namespace
}  // namespace muster::core

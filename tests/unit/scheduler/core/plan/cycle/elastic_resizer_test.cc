#include "scheduler/core/plan/cycle/elastic_resizer.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/elastic_cluster.h"
#include "tests/unit/scheduler/core/plan/cycle/one_cycle.h"

namespace muster::core {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::OneCycle;

// The parts that change sizes, over what the cluster looks like now.
class Resizing : public OneCycle {
 public:
  explicit Resizing(const testing::World& world)
      : OneCycle(world),
        verdicts_(state.snapshot, state.availability, state.power),
        starter_(state, verdicts_),
        reservations_(state),
        elastic(state, starter_, reservations_) {}

 private:
  ShapeVerdicts verdicts_;
  JobStarter starter_;
  BackfillReservations reservations_;

 public:
  ElasticResizer elastic;
};

// Four nodes, all of which one elastic job has, of at least two.
class ElasticResizerTest : public ::testing::Test {
 protected:
  ElasticResizerTest() {
    for (int i = 0; i < 4; ++i) {
      cluster_.AddNode();
    }
    elastic_ = cluster_.Submit(2, 4, hours(10));
    cluster_.Play(minutes(1));
    EXPECT_EQ(cluster_.NodesOf(elastic_), 4U);
  }
  // Whether the elastic job gives nodes to a job of that many that would wait for hours.
  bool Gives(std::uint32_t nodes) {
    const JobId job = cluster_.SubmitPlain(nodes, hours(1));
    Resizing cycle(cluster_.world);
    const Prospect none;
    cycle.elastic.ShrinkFor(cycle.Waiting(job), cycle.OptionsOf(job), none);
    return cycle.state.plan.Shrinks(elastic_);
  }
  testing::ElasticCluster cluster_;
  JobId elastic_;
};

TEST_F(ElasticResizerTest, AJobGivesWhatItHasBeyondItsLeastAndNoMore) {
  EXPECT_TRUE(Gives(2));
  EXPECT_FALSE(Gives(3));
}

TEST_F(ElasticResizerTest, NoJobIsAskedWherePolicyLetsNoneShrink) {
  EXPECT_TRUE(Resizing(cluster_.world).elastic.MayShrink());
  cluster_.world.config.elastic.shrink = false;
  EXPECT_FALSE(Resizing(cluster_.world).elastic.MayShrink());
}

TEST_F(ElasticResizerTest, AJobThatHasAllItsNodesIsAtItsLargest) {
  Resizing cycle(cluster_.world);
  cycle.elastic.JudgeSizes();
  const Plan plan = cycle.Finish();
  ASSERT_EQ(plan.resizes.size(), 1U);
  EXPECT_EQ(plan.resizes[0].job, elastic_);
  EXPECT_EQ(plan.resizes[0].verdict, ResizeVerdict::kLargest);
}

}  // namespace
}  // namespace muster::core

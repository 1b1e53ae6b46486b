// GPUs that processes outside of jobs use.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "scheduler/core/explain/counterfactual.h"
#include "scheduler/core/explain/explain.h"
#include "scheduler/core/handle/verify.h"
#include "scheduler/core/place/placement.h"
#include "scheduler/core/place/worth/largest_gpu_job.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::Shape;
using testing::World;

class GpuOccupiedTest : public ::testing::Test {
 protected:
  const Shape kShape{.cores = 8, .gpus = 2};

  JobId Submit(std::uint32_t gpus, bool beside_others = false, GpuShare share = {}) {
    ResourceRequest request = testing::Tasks(1);
    request.gpus_per_node.count = gpus;
    request.gpu_share = share;
    request.gpu_occupied = beside_others;
    return world_.Submit(request);
  }
  static GpuOccupant Alice(std::uint32_t gpu) {
    return {gpu, 4711, "alice", "python", kGibibyte * 12};
  }
  Transition Occupy(const GpuOccupants& occupants) {
    return world_.Take(TakeGpuOccupants{node_, occupants});
  }
  bool Runs(JobId job) { return world_.state.FindJob(job)->attempt.has_value(); }
  std::vector<GpuGrant> GpusOf(JobId job) {
    return world_.state.FindJob(job)->attempt->allocation.nodes.front().gpus;
  }
  std::string WhyNot(JobId job) { return ToSentence(world_.ReasonFor(job)); }

  World world_;
  const NodeId node_ = world_.AddNode("n1", kShape);
};

TEST_F(GpuOccupiedTest, AGpuThatOthersUseIsNotGivenAway) {
  Occupy({Alice(0)});
  const JobId first = Submit(1);
  const JobId second = Submit(1);
  world_.Schedule();
  ASSERT_TRUE(Runs(first));
  EXPECT_EQ(GpusOf(first), (std::vector<GpuGrant>{{1, kWholeGpu}}));
  EXPECT_FALSE(Runs(second));
  EXPECT_EQ(world_.ReasonFor(second).kind, ReasonKind::kResources);
  EXPECT_EQ(
      WhyNot(second),
      "1 node: 1 short of 1 GPU (has 0); 1 GPU of node n1 is used by pid 4711 (alice, python, "
      "12 GiB) outside Muster");
}

TEST_F(GpuOccupiedTest, ItComesBackWhenTheProcessIsGone) {
  Occupy({Alice(0), Alice(1)});
  const JobId job = Submit(2);
  world_.Schedule();
  ASSERT_FALSE(Runs(job));
  EXPECT_FALSE(testing::Only<Replan>(Occupy({})).empty());
  world_.Schedule();
  EXPECT_TRUE(Runs(job));
}

TEST_F(GpuOccupiedTest, AJobThatTakesSuchGpusHasThemOnlyWhereThereIsNoOther) {
  Occupy({Alice(0)});
  const JobId one = Submit(1, true);
  world_.Schedule();
  ASSERT_TRUE(Runs(one));
  EXPECT_EQ(GpusOf(one), (std::vector<GpuGrant>{{1, kWholeGpu}}));
  const JobId other = Submit(1, true);
  world_.Schedule();
  ASSERT_TRUE(Runs(other));
  EXPECT_EQ(GpusOf(other), (std::vector<GpuGrant>{{0, kWholeGpu}}));
}

TEST_F(GpuOccupiedTest, AJobThatRunsThereGoesOn) {
  const JobId job = Submit(2);
  world_.Schedule();
  ASSERT_TRUE(Runs(job));
  Occupy({Alice(0), Alice(1)});
  world_.Schedule();
  EXPECT_TRUE(Runs(job));
  world_.TellStarted(node_, job);
  world_.TellEnded(node_, job, 2);
  const JobId next = Submit(1);
  world_.Schedule();
  EXPECT_FALSE(Runs(next));
}

TEST_F(GpuOccupiedTest, NeitherAPartOfItNorAWholeNodeIsGivenAway) {
  Occupy({Alice(0), Alice(1)});
  const JobId part = Submit(1, false, GpuShare(250));
  ResourceRequest whole = testing::Tasks(1);
  whole.exclusive = true;
  const JobId node = world_.Submit(whole);
  world_.Schedule();
  EXPECT_FALSE(Runs(part));
  EXPECT_EQ(WhyNot(part),
            "1 node: 1 short of 0.25 of one GPU (has 0); 2 GPUs of node n1 are used by pid 4711 "
            "(alice, python, 12 GiB) outside Muster");
  EXPECT_FALSE(Runs(node));
  EXPECT_NE(WhyNot(node).find("short of 2 GPUs (has 0); 2 GPUs of node n1"), std::string::npos)
      << WhyNot(node);
  const JobId beside = Submit(1, true, GpuShare(250));
  world_.Schedule();
  EXPECT_TRUE(Runs(beside));
}

TEST_F(GpuOccupiedTest, APartOfAGpuGoesToOneThatIsFree) {
  Occupy({Alice(0)});
  const JobId part = Submit(1, false, GpuShare(250));
  world_.Schedule();
  ASSERT_TRUE(Runs(part));
  EXPECT_EQ(GpusOf(part), (std::vector<GpuGrant>{{1, GpuShare(250)}}));
}

TEST_F(GpuOccupiedTest, AJobWithoutGpusIsNotKeptAway) {
  Occupy({Alice(0), Alice(1)});
  const JobId job = Submit(0);
  world_.Schedule();
  EXPECT_TRUE(Runs(job));
}

TEST_F(GpuOccupiedTest, TheTypeOfAnOccupiedGpuIsStillThere) {
  Occupy({Alice(0), Alice(1)});
  ResourceRequest request = testing::Tasks(1);
  request.gpus_per_task = {"a100", 1};
  const JobId job = world_.Submit(request);
  world_.Schedule();
  EXPECT_NE(WhyNot(job).find("used by pid 4711"), std::string::npos) << WhyNot(job);
  request.gpus_per_task = {"a100", 1};
  request.gpu_occupied = true;
  const JobId beside = world_.Submit(request);
  world_.Schedule();
  EXPECT_TRUE(Runs(beside));
}

TEST_F(GpuOccupiedTest, APlanThatIsOlderThanTheOccupantStartsNothingThere) {
  const JobId job = Submit(2);
  const Plan plan = world_.MakePlanNow();
  ASSERT_EQ(plan.starts.size(), 1U);
  Occupy({Alice(1)});
  EXPECT_FALSE(Verifier(world_.state, world_.now).Accept(plan.starts[0]));
  EXPECT_FALSE(Runs(job));
}

TEST_F(GpuOccupiedTest, WhatIsSaidAgainIsNoEvent) {
  EXPECT_EQ(Occupy({Alice(0)}).events.size(), 1U);
  EXPECT_TRUE(Occupy({Alice(0)}).events.empty());
  EXPECT_TRUE(Occupy({Alice(0), Alice(9)}).events.empty()) << "the node has no GPU 9";
}

TEST_F(GpuOccupiedTest, AnotherBootHasNoneOfTheProcesses) {
  Occupy({Alice(0)});
  Registration registration = World::RegistrationOf("n1", kShape);
  registration.boot_id = "another";
  world_.Take(LoseAgent{node_});
  world_.Take(RegisterAgent{registration});
  EXPECT_TRUE(world_.state.FindNode(node_)->gpu_occupants.empty());
}

TEST_F(GpuOccupiedTest, TheLargestJobIsWithoutIt) {
  Occupy({Alice(0)});
  const auto snapshot = BuildSnapshot(world_.state, world_.now, nullptr, nullptr);
  const std::vector<LargestGpuJob> largest = LargestGpuJobs(snapshot->nodes, nullptr);
  ASSERT_EQ(largest.size(), 1U);
  EXPECT_EQ(largest[0].gpus, 2U);
  EXPECT_EQ(largest[0].free, 1U);
}

TEST_F(GpuOccupiedTest, AnExplanationNamesTheProcessAndTheOptionThatHelps) {
  Occupy({Alice(0), Alice(1)});
  const JobId job = Submit(1);
  const Plan plan = world_.MakePlanNow();
  const auto snapshot = BuildSnapshot(world_.state, world_.now, nullptr, nullptr);
  const Explanation explanation = ExplainWaiting(*snapshot, job, plan, world_.config);
  ASSERT_EQ(explanation.nodes.size(), 1U);
  EXPECT_EQ(
      explanation.nodes[0].text,
      "short of 1 GPU (has 0); 2 GPUs of node n1 are used by pid 4711 (alice, python, 12 GiB) "
      "outside Muster");
  const std::vector<Suggestion> suggestions = SuggestChanges(*snapshot, job, world_.config);
  EXPECT_TRUE(std::any_of(suggestions.begin(), suggestions.end(), [](const Suggestion& suggestion) {
    return suggestion.change == "--gpu-occupied=ok";
  }));
}

}  // namespace
}  // namespace muster::core

#include "scheduler/core/handle/verify.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::Cpus;
using testing::Tasks;
using testing::World;

PlannedStart StartOf(const World& world, JobId job, const std::string& cpus, NodeId node) {
  PlannedStart start;
  start.job = job;
  NodeAllocation part;
  part.node = node;
  part.name = world.state.FindNode(node)->name;
  part.cpus = Cpus(cpus);
  part.ranks.push_back(RankPlacement{0, part.cpus, NumaSet(), {}});
  start.allocation.nodes.push_back(part);
  return start;
}

TEST(Verify, PassesAPlanOfTheVeryState) {
  World world;
  world.AddNode("n1");
  world.Submit(Tasks(2));
  world.Submit(Tasks(2));
  const Plan plan = world.MakePlanNow();
  ASSERT_EQ(plan.starts.size(), 2U);
  Verifier verifier(world.state);
  EXPECT_TRUE(verifier.Accept(plan.starts[0]));
  EXPECT_TRUE(verifier.Accept(plan.starts[1]));
}

TEST(Verify, DropsAJobThatWasHeldOrCancelledOrStartedSince) {
  World world;
  world.AddNode("n1");
  const JobId held = world.Submit(Tasks(1));
  const JobId cancelled = world.Submit(Tasks(1));
  const JobId started = world.Submit(Tasks(1));
  const Plan plan = world.MakePlanNow();
  ASSERT_EQ(plan.starts.size(), 3U);
  world.Take(HoldJob{held, std::nullopt, true, world.ada});
  world.Take(CancelJob{cancelled, std::nullopt, world.ada});
  world.Schedule();
  ASSERT_EQ(world.StateOf(started), JobState::kConfiguring);
  Verifier verifier(world.state);
  for (const PlannedStart& start : plan.starts) {
    EXPECT_FALSE(verifier.Accept(start));
  }
}

TEST(Verify, DropsOnlyThePieceThatDoesNotHoldAnyMore) {
  World world;
  const NodeId first = world.AddNode("n1", {.cores = 1});
  world.AddNode("n2", {.cores = 1});
  const JobId a = world.Submit(Tasks(1));
  const JobId b = world.Submit(Tasks(1));
  const Plan plan = world.MakePlanNow();
  world.Take(LoseAgent{first});
  const Transition transition = world.Take(TakePlan{plan});
  EXPECT_EQ(world.StateOf(a), JobState::kPending);
  EXPECT_EQ(world.StateOf(b), JobState::kConfiguring);
  EXPECT_EQ(testing::Only<Replan>(transition).size(), 1U);
}

TEST(Verify, DropsAStartOnANodeThatWasDrainedOrIsUnknown) {
  World world;
  const NodeId node = world.AddNode("n1");
  const JobId job = world.Submit(Tasks(1));
  PlannedStart start = StartOf(world, job, "0", node);
  world.Take(DrainNode{"n1", true, "disk"});
  EXPECT_FALSE(Verifier(world.state).Accept(start));
  world.Take(DrainNode{"n1", false, ""});
  EXPECT_TRUE(Verifier(world.state).Accept(start));
  start.allocation.nodes[0].node = NodeId(77);
  EXPECT_FALSE(Verifier(world.state).Accept(start));
}

TEST(Verify, CountsWhatItPassedAgainstWhatFollows) {
  World world;
  const NodeId node = world.AddNode("n1");
  const JobId a = world.Submit(Tasks(1));
  const JobId b = world.Submit(Tasks(1));
  Verifier verifier(world.state);
  EXPECT_TRUE(verifier.Accept(StartOf(world, a, "0-1", node)));
  EXPECT_FALSE(verifier.Accept(StartOf(world, a, "2", node))) << "one job starts once";
  EXPECT_FALSE(verifier.Accept(StartOf(world, b, "1-2", node)));
  EXPECT_TRUE(verifier.Accept(StartOf(world, b, "2", node)));
}

TEST(Verify, DropsThreadsMemoryAndGpusThatTheMachineDoesNotHave) {
  World world;
  const NodeId node = world.AddNode("n1", {.cores = 2, .gpus = 1, .memory = kGibibyte});
  const JobId job = world.Submit(Tasks(1));
  const auto refused = [&](auto&& change) {
    PlannedStart start = StartOf(world, job, "0", node);
    change(start.allocation);
    return !Verifier(world.state).Accept(start);
  };
  EXPECT_TRUE(refused([](Allocation& a) { a.nodes.clear(); }));
  EXPECT_TRUE(refused([](Allocation& a) { a.nodes[0].cpus = Cpus("2"); }));
  EXPECT_TRUE(refused([](Allocation& a) { a.nodes[0].cpus = CpuSet(); }));
  EXPECT_TRUE(refused([](Allocation& a) { a.nodes[0].memory = kGibibyte * 2; }));
  EXPECT_TRUE(refused([](Allocation& a) { a.nodes[0].memory = Bytes(UINT64_MAX); }));
  EXPECT_TRUE(refused([](Allocation& a) { a.nodes[0].gpus = {{1, kWholeGpu}}; }));
  EXPECT_TRUE(refused([](Allocation& a) { a.nodes[0].gpus = {{0, GpuShare(UINT32_MAX)}}; }));
  EXPECT_TRUE(refused([](Allocation& a) {
    a.nodes[0].gpus = {{0, kWholeGpu}, {0, GpuShare(1)}};
  })) << "one GPU twice in one part";
  EXPECT_TRUE(refused([](Allocation& a) { a.nodes.push_back(a.nodes[0]); }))
      << "one node twice in one job";
  EXPECT_FALSE(refused([](Allocation& a) { a.nodes[0].gpus = {{0, kWholeGpu}}; }));
}

TEST(Verify, DropsAPreemptionThatNamesAVictimTwice) {
  World world;
  world.AddNode("n1");
  const JobId victim = world.Submit(Tasks(4));
  world.Schedule();
  const JobId next = world.Submit(Tasks(4));
  const Attempt& attempt = *world.state.FindJob(victim)->attempt;
  PlannedPreemption preemption{next, {PlannedVictim{victim, attempt.number}}, attempt.allocation};
  EXPECT_TRUE(Verifier(world.state, world.now).AcceptPreemption(preemption));
  preemption.victims.push_back(preemption.victims.front());
  EXPECT_FALSE(Verifier(world.state, world.now).AcceptPreemption(preemption));
}

TEST(Verify, HoldsAnArrayToItsThrottle) {
  World world;
  const NodeId node = world.AddNode("n1");
  JobSpec spec = world.Spec(Tasks(1));
  spec.array = ArraySpec{{{0, 3, 1}}, 2};
  const JobId array = world.Submit(spec);
  const auto element = [&](std::uint64_t i) { return JobId(array.value() + i); };
  Verifier verifier(world.state);
  EXPECT_TRUE(verifier.Accept(StartOf(world, element(0), "0", node)));
  EXPECT_TRUE(verifier.Accept(StartOf(world, element(1), "1", node)));
  EXPECT_FALSE(verifier.Accept(StartOf(world, element(2), "2", node)));
  world.Schedule();
  EXPECT_FALSE(Verifier(world.state).Accept(StartOf(world, element(2), "2", node)));
}

}  // namespace
}  // namespace muster::core

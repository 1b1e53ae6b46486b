#include "scheduler/core/state/invariants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::Cpus;
using ::testing::HasSubstr;
using testing::Tasks;
using testing::World;

// The image of a sound state: node n1 with 4 cores and 2 GPUs; job 1 runs on cores 0-1 and GPU 0,
// job 2 on core 2 and GPU 1, job 3 waits.
StateImage Sound() {
  World world;
  world.AddNode("n1", {.cores = 4, .gpus = 2});
  ResourceRequest request = Tasks(2);
  request.gpus_per_node.count = 1;
  world.Submit(request);
  request.tasks = 1;
  world.Submit(request);
  world.Schedule();
  world.Submit(Tasks(4));
  StateImage image;
  image.version = world.state.version();
  image.epoch = world.state.epoch();
  image.next_job = world.state.next_job();
  image.next_node = world.state.node_table().next();
  for (const auto& [id, job] : world.state.jobs()) {
    image.jobs.push_back(job);
  }
  for (const auto& [id, node] : world.state.nodes()) {
    image.nodes.push_back(node);
  }
  return image;
}

NodeAllocation& Part(StateImage& image, std::size_t job) {
  return image.jobs[job].attempt->allocation.nodes[0];
}

std::string Broken(StateImage image) {
  return BrokenInvariant(ClusterState(std::move(image))).value_or("nothing");
}

TEST(Invariants, HoldOfASoundState) {
  EXPECT_EQ(Broken(Sound()), "nothing");
  EXPECT_EQ(Broken(StateImage()), "nothing");
}

TEST(Invariants, SeeAThreadGivenTwice) {
  StateImage image = Sound();
  Part(image, 1).cpus = Cpus("1-2");
  EXPECT_EQ(Broken(std::move(image)), "job 2: shares threads 1 of n1");
}

TEST(Invariants, SeeAGpuGivenTwice) {
  StateImage image = Sound();
  Part(image, 1).gpus = {{0, GpuShare(1)}};
  Part(image, 1).ranks[0].gpus = {0};
  EXPECT_EQ(Broken(std::move(image)), "job 2: shares GPU 0 of n1");
}

TEST(Invariants, SeeAnAttemptWithoutResourcesAndResourcesWithoutAnAttempt) {
  StateImage image = Sound();
  image.jobs[0].state = JobState::kPending;
  EXPECT_THAT(Broken(std::move(image)), HasSubstr("job 1: is PENDING and has an attempt"));
  image = Sound();
  image.jobs[0].attempt.reset();
  EXPECT_THAT(Broken(std::move(image)), HasSubstr("job 1: is CONFIGURING and has no attempt"));
}

TEST(Invariants, SeeAMissingRun) {
  StateImage image = Sound();
  image.jobs[0].attempt->runs.clear();
  EXPECT_EQ(Broken(std::move(image)), "job 1: has not one run for each node");
}

TEST(Invariants, SeeAJobThatEndedAndIsStillThere) {
  StateImage image = Sound();
  image.jobs[2].state = JobState::kCompleted;
  EXPECT_EQ(Broken(std::move(image)), "job 3: is COMPLETED and still in the state");
}

TEST(Invariants, SeeAnIdThatWasNeverGivenOut) {
  StateImage image = Sound();
  image.next_job = JobId(3);
  EXPECT_EQ(Broken(std::move(image)), "job 3: was never given out");
  image = Sound();
  image.next_node = NodeId(1);
  EXPECT_EQ(Broken(std::move(image)), "node n1: has an id that was never given out");
}

TEST(Invariants, SeeRanksOutOfOrderOrOutOfTheirPart) {
  StateImage image = Sound();
  Part(image, 0).ranks[1].rank = 2;
  EXPECT_EQ(Broken(std::move(image)), "job 1: ranks are not numbered 0 to n-1");
  image = Sound();
  Part(image, 0).ranks[0].cpus = Cpus("3");
  EXPECT_THAT(Broken(std::move(image)), HasSubstr("job 1: rank 0 has threads"));
  image = Sound();
  Part(image, 0).ranks[0].mem_nodes = NumaSet::Of({5});
  EXPECT_THAT(Broken(std::move(image)), HasSubstr("outside its node's part"));
  image = Sound();
  Part(image, 0).ranks[0].gpus = {1};
  EXPECT_THAT(Broken(std::move(image)), HasSubstr("outside its node's part"));
}

TEST(Invariants, SeeAPartOnANodeThatDoesNotExistOrWithoutThreads) {
  StateImage image = Sound();
  Part(image, 0).node = NodeId(9);
  EXPECT_EQ(Broken(std::move(image)), "job 1: is on a node that does not exist");
  image = Sound();
  Part(image, 0).cpus = CpuSet();
  Part(image, 0).ranks.clear();
  EXPECT_EQ(Broken(std::move(image)), "job 1: holds no thread of n1");
}

TEST(Invariants, SeeAQuarantinedAttemptOfAnotherNode) {
  StateImage image = Sound();
  QuarantinedAttempt attempt;
  attempt.job = JobId(2);
  attempt.allocation.node = NodeId(2);
  image.nodes[0].quarantined.push_back(attempt);
  EXPECT_EQ(Broken(std::move(image)), "node n1: quarantines an attempt of another node");
}

TEST(Invariants, LetAQuarantinedAttemptHoldWhatAJobHolds) {
  StateImage image = Sound();
  QuarantinedAttempt attempt;
  attempt.job = JobId(1);
  attempt.attempt = AttemptNumber(9);
  attempt.allocation.node = NodeId(1);
  attempt.allocation.cpus = Cpus("0-3");
  image.nodes[0].quarantined.push_back(attempt);
  EXPECT_EQ(Broken(std::move(image)), "nothing");
}

TEST(InvariantsDeathTest, AnEventThatDoesNotFitTheStateEndsTheProcess) {
  ClusterState state(Sound());
  EXPECT_DEATH(state.Apply(JobEnded{JobId(9), JobState::kCompleted, ExitStatus(), "", Time()}),
               "broken invariant");
  EXPECT_DEATH(state.Apply(JobEnded{JobId(3), JobState::kCompleted, ExitStatus(), "", Time()}),
               "broken invariant")
      << "a waiting job does not complete";
  EXPECT_DEATH(state.Apply(EpochBegan{state.epoch(), Time()}), "broken invariant");
  EXPECT_DEATH(state.Apply(JobSubmitted{JobId(1), 1, "t", JobSpec(), Program(), Time()}),
               "broken invariant");
  AttemptStarted start;
  start.job = JobId(3);
  start.attempt = AttemptNumber(1);
  NodeAllocation part;
  part.node = NodeId(1);
  part.cpus = Cpus("0");
  start.allocation.nodes.push_back(part);
  EXPECT_DEATH(state.Apply(start), "broken invariant") << "core 0 is taken";
}

}  // namespace
}  // namespace muster::core

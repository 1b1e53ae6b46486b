#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/core/handle/handle.h"
#include "scheduler/core/place/locality.h"
#include "scheduler/model/value/start_code.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::Cpus;
using ::testing::HasSubstr;
using testing::Only;
using testing::Shape;
using testing::Tasks;
using testing::World;

KnownAttempt Known(JobId job, const std::string& cpus, bool ended = false) {
  KnownAttempt known;
  known.job = job;
  known.attempt = AttemptNumber(1);
  known.ended = ended;
  known.allocation.cpus = Cpus(cpus);
  known.allocation.memory = kGibibyte;
  return known;
}

Registration Back(std::vector<KnownAttempt> attempts = {}, const Shape& shape = Shape()) {
  Registration registration = World::RegistrationOf("n1", shape);
  registration.attempts = std::move(attempts);
  return registration;
}

// n1 with one job on it, started.
class OneJob {
 public:
  World world;
  NodeId node;
  JobId job;
  explicit OneJob(const Shape& shape = Shape(), ResourceRequest request = Tasks(2)) {
    node = world.AddNode("n1", shape);
    job = world.Submit(std::move(request));
    world.Schedule();
  }
};

TEST(Registration, ANewNodeGetsAnIdAndIsPlannedOn) {
  World world;
  const Transition transition = world.Take(RegisterAgent{World::RegistrationOf("n1", Shape())});
  EXPECT_EQ(transition.node, NodeId(1));
  EXPECT_EQ(Only<Replan>(transition).size(), 1U);
  EXPECT_TRUE(world.state.FindNode("n1")->connected);
  EXPECT_EQ(world.AddNode("n2"), NodeId(2));
}

TEST(Registration, ANodeThatComesBackKeepsItsId) {
  World world;
  const NodeId node = world.AddNode("n1");
  world.Take(LoseAgent{node});
  EXPECT_FALSE(world.state.FindNode(node)->connected);
  EXPECT_TRUE(world.Take(LoseAgent{node}).events.empty());
  EXPECT_EQ(world.AddNode("n1", {.cores = 6}), node);
  EXPECT_EQ(world.state.FindNode(node)->machine->cores.size(), 6U);
}

TEST(Registration, AnotherAgentOfAConnectedNodesNameIsRefused) {
  World world;
  const NodeId node = world.AddNode("n1");
  Registration other = Back();
  other.instance = "second";
  EXPECT_EQ(world.Take(RegisterAgent{other}).status.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(world.Take(RegisterAgent{Back()}).status.ok()) << "the same one may come again";
  world.Take(LoseAgent{node});
  EXPECT_TRUE(world.Take(RegisterAgent{other}).status.ok());
}

TEST(Registration, AnAgentThatHasSeenANewerEpochIsRefused) {
  World world;
  Registration registration = Back();
  registration.epoch_seen = Epoch(2);
  const Transition transition = world.Take(RegisterAgent{registration});
  EXPECT_EQ(transition.status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(transition.status.message()), HasSubstr("older than the cluster"));
}

TEST(Registration, AMachineThatCannotBeIsRefused) {
  World world;
  const auto refused = [&](auto&& change) {
    Registration registration = Back();
    change(registration);
    return world.Take(RegisterAgent{registration}).status.code() ==
           absl::StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused([](Registration& r) { r.name = ""; }));
  EXPECT_TRUE(refused([](Registration& r) { r.name = "a b"; }));
  EXPECT_TRUE(refused([](Registration& r) { r.name = std::string(256, 'n'); }));
  EXPECT_TRUE(refused([](Registration& r) { r.machine.cores.clear(); }));
  EXPECT_TRUE(refused([](Registration& r) { r.machine.cores[0].cpus = CpuSet(); }));
  EXPECT_TRUE(refused([](Registration& r) { r.machine.cores[0].cpus = Cpus("1"); }));
  EXPECT_TRUE(refused([](Registration& r) { r.machine.numa_nodes[0].os_index = 65536; }));
  EXPECT_TRUE(refused([](Registration& r) { r.machine.cores[0].numa = 1U << 30U; }));
  EXPECT_TRUE(refused([](Registration& r) { r.machine.cores[0].l3 = 1U << 30U; }));
  EXPECT_TRUE(refused([](Registration& r) { r.machine.cores[0].package = 1U << 30U; }));
  EXPECT_TRUE(refused([](Registration& r) { r.machine.memory = Bytes(~std::uint64_t{0}); }));
  EXPECT_TRUE(refused([](Registration& r) { r.machine.gpu_links.push_back({0, 1}); }));
  EXPECT_TRUE(refused([](Registration& r) { r.attempts.resize(10000); }));
}

TEST(Registration, AJobsGpuThatItsMachineLostIsNotLocal) {
  ResourceRequest request = Tasks(2);
  request.gpus_per_task.count = 1;
  OneJob one({.cores = 2, .gpus = 2}, request);
  ASSERT_TRUE(one.world.state.FindJob(one.job)->attempt.has_value());
  const NodeAllocation part = one.world.state.FindJob(one.job)->attempt->allocation.nodes[0];
  one.world.Take(LoseAgent{one.node});
  ASSERT_TRUE(
      one.world.Take(RegisterAgent{Back({Known(one.job, "0-1")}, {.cores = 2})}).status.ok());
  Locality locality;
  AddLocality(*one.world.state.FindNode(one.node)->machine, part, locality);
  EXPECT_EQ(locality.local, 0U);
}

TEST(Registration, AnOrderThatNeverArrivedIsSentAgain) {
  OneJob one;
  one.world.Take(LoseAgent{one.node});
  const Transition transition = one.world.Take(RegisterAgent{Back()});
  EXPECT_EQ(Only<Launch>(transition), (std::vector<Launch>{{one.job, AttemptNumber(1), one.node}}));
  EXPECT_EQ(one.world.StateOf(one.job), JobState::kConfiguring);
}

TEST(Registration, AnAttemptThatGoesOnIsLeftAlone) {
  OneJob one;
  one.world.TellStarted(one.node, one.job);
  one.world.Take(LoseAgent{one.node});
  EXPECT_EQ(one.world.StateOf(one.job), JobState::kRunning);
  const Transition transition = one.world.Take(RegisterAgent{Back({Known(one.job, "0-1")})});
  EXPECT_EQ(transition.events.size(), 1U);
  EXPECT_TRUE(Only<Terminate>(transition).empty());
  EXPECT_EQ(one.world.StateOf(one.job), JobState::kRunning);
}

TEST(Registration, ATerminationThatNeverArrivedIsSentAgain) {
  OneJob one;
  one.world.TellStarted(one.node, one.job);
  one.world.Take(LoseAgent{one.node});
  one.world.Take(CancelJob{one.job, std::nullopt, one.world.ada});
  const Transition transition = one.world.Take(RegisterAgent{Back({Known(one.job, "0-1")})});
  EXPECT_EQ(Only<Terminate>(transition).size(), 1U);
}

TEST(Registration, OnlyThisNodesOrdersAreSentToIt) {
  World world;
  const NodeId a = world.AddNode("n1", {.cores = 1});
  const NodeId b = world.AddNode("n2", {.cores = 1});
  world.Submit(Tasks(2));
  world.Schedule();
  world.Take(LoseAgent{a});
  for (const Launch& launch : Only<Launch>(world.Take(RegisterAgent{Back({}, {.cores = 1})}))) {
    EXPECT_EQ(launch.node, a);
    EXPECT_NE(launch.node, b);
  }
}

TEST(Registration, AfterARebootWhatRanThereIsOver) {
  OneJob one;
  one.world.TellStarted(one.node, one.job);
  one.world.Take(LoseAgent{one.node});
  Registration registration = Back();
  registration.boot_id = "boot2";
  one.world.Take(RegisterAgent{registration});
  EXPECT_EQ(one.world.EndOf(one.job)->state, JobState::kNodeFail);
  EXPECT_EQ(one.world.EndOf(one.job)->text, "n1: the node rebooted");
}

TEST(Registration, AnOrderThatANodeMayHaveObeyedBeforeItLostItsPowerIsNotGivenAgain) {
  OneJob one;
  one.world.Take(LoseAgent{one.node});
  Registration registration = Back();
  registration.boot_id = "boot2";
  const Transition transition = one.world.Take(RegisterAgent{registration});
  EXPECT_TRUE(Only<Launch>(transition).empty()) << "its directory was not synced";
  EXPECT_EQ(one.world.EndOf(one.job)->text, "n1: the node rebooted");
}

TEST(Registration, AnAgentThatLostItsRecordEndsWhatItShouldHaveHad) {
  for (const bool started : {false, true}) {
    OneJob one;
    if (started) {
      one.world.TellStarted(one.node, one.job);
    }
    one.world.Take(LoseAgent{one.node});
    Registration registration = Back();
    registration.instance = "second";
    one.world.Take(RegisterAgent{registration});
    EXPECT_EQ(one.world.EndOf(one.job)->state, JobState::kNodeFail);
    EXPECT_THAT(one.world.EndOf(one.job)->text, HasSubstr("without its record"));
  }
}

TEST(Registration, AnAttemptThatTheControllerDoesNotKnowIsKeptAndItsThreadsKeptAway) {
  World world;
  const NodeId node = world.AddNode("n1");
  const Transition transition = world.Take(RegisterAgent{Back({Known(JobId(40), "0-1")})});
  EXPECT_TRUE(Only<Terminate>(transition).empty()) << "never killed out of ignorance";
  ASSERT_EQ(world.state.FindNode(node)->quarantined.size(), 1U);
  EXPECT_EQ(world.state.next_job(), JobId(41)) << "its id is never given out again";
  const JobId big = world.Submit(Tasks(3));
  const JobId small = world.Submit(Tasks(2));
  world.Schedule();
  EXPECT_EQ(world.StateOf(big), JobState::kPending);
  world.Take(CancelJob{big, std::nullopt, world.ada});
  world.Schedule();
  EXPECT_EQ(world.state.FindJob(small)->attempt->allocation.nodes[0].cpus.ToList(), "2-3");
}

TEST(Registration, AQuarantinedAttemptIsLetGoWhenItsEndIsReported) {
  World world;
  const NodeId node = world.AddNode("n1");
  world.Take(RegisterAgent{Back({Known(JobId(40), "0-3")})});
  const auto tell = [&](std::uint64_t index, Fact fact) {
    return world.Take(
        TakeReport{node, Report{JobId(40), AttemptNumber(1), index, std::move(fact)}});
  };
  EXPECT_EQ(Only<Acknowledge>(tell(1, RunStarted())).size(), 1U);
  EXPECT_FALSE(world.state.FindNode(node)->quarantined.empty());
  EXPECT_EQ(Only<Acknowledge>(tell(2, RunEnded())).size(), 1U);
  EXPECT_TRUE(world.state.FindNode(node)->quarantined.empty());
  EXPECT_TRUE(world.state.FindNode(node)->taken.cpus.Empty());
  EXPECT_TRUE(tell(2, RunEnded()).events.empty());
}

TEST(Registration, AQuarantinedAttemptIsLetGoWhenTheAgentComesBackWithoutIt) {
  World world;
  const NodeId node = world.AddNode("n1");
  world.Take(RegisterAgent{Back({Known(JobId(40), "0-1"), Known(JobId(41), "2")})});
  EXPECT_TRUE(world.Take(RegisterAgent{Back({Known(JobId(40), "0-1"), Known(JobId(41), "2")})})
                  .events.size() == 1)
      << "what is quarantined already is not again";
  world.Take(RegisterAgent{Back({Known(JobId(40), "0-1", true)})});
  EXPECT_TRUE(world.state.FindNode(node)->quarantined.empty());
  world.Take(RegisterAgent{Back({Known(JobId(50), "0", true)})});
  EXPECT_TRUE(world.state.FindNode(node)->quarantined.empty()) << "what has ended holds nothing";
}

TEST(Registration, TheNumberOfAnEndedAttemptThatTheStateDoesNotKnowIsUsedUp) {
  World world;
  const NodeId node = world.AddNode("n1");
  const JobId job = world.Submit(Tasks(1));
  world.Take(RegisterAgent{Back({Known(job, "0-1", true)})});
  EXPECT_TRUE(world.state.FindNode(node)->quarantined.empty());
  world.Schedule();
  EXPECT_EQ(world.state.FindJob(job)->attempt->number, AttemptNumber(2));
  EXPECT_EQ(world.Take(RegisterAgent{Back({Known(job, "0-1", true)})}).events.size(), 1U)
      << "once is enough";
}

TEST(Registration, NumbersThatNoClusterGivesOutAreRefused) {
  World world;
  world.AddNode("n1");
  const JobId job = world.Submit(Tasks(1));
  KnownAttempt far = Known(job, "0");
  far.attempt = AttemptNumber(UINT32_MAX);
  for (const KnownAttempt& known :
       {Known(JobId(UINT64_MAX), "0"), Known(JobId(1'000'002), "0"), far}) {
    const Transition transition = world.Take(RegisterAgent{Back({known})});
    EXPECT_EQ(transition.status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(transition.status.message()), HasSubstr("cannot have"));
  }
  EXPECT_EQ(world.Submit(Tasks(1)), JobId(2)) << "one node's word uses up nobody's numbers";
}

TEST(Registration, WhatARestoredStateWouldOrderAgainIsLost) {
  OneJob one;
  World& world = one.world;
  ASSERT_EQ(world.StateOf(one.job), JobState::kConfiguring);
  const Epoch seen = world.state.epoch();
  world.Take(BeginEpoch{.restored = true});
  Registration registration = Back();
  registration.epoch_seen = seen;
  const Transition back = world.Take(RegisterAgent{registration});
  EXPECT_TRUE(Only<Launch>(back).empty()) << "it may have run, and another may have its threads";
  EXPECT_EQ(world.EndOf(one.job)->state, JobState::kNodeFail);
}

TEST(Registration, AJobWhoseCoresAnotherHasHadSinceTheCopyOfTheStateIsEnded) {
  OneJob one;
  World& world = one.world;
  world.TellStarted(one.node, one.job);
  const Epoch seen = world.state.epoch();
  Registration registration = Back({Known(one.job, "0-1"), Known(JobId(40), "0-1")});
  world.Take(BeginEpoch{.restored = true});
  registration.epoch_seen = seen;
  const Transition back = world.Take(RegisterAgent{registration});
  EXPECT_EQ(Only<Terminate>(back).size(), 1U) << "it was suspended, and may be resumed at any time";
  EXPECT_EQ(world.StateOf(one.job), JobState::kCompleting);
  EXPECT_EQ(world.state.FindNode(one.node)->quarantined.size(), 1U);
}

TEST(Registration, UnknownAttemptsMayOverlapWhatIsTakenAndNothingIsFreedTooEarly) {
  OneJob one;
  World& world = one.world;
  world.TellStarted(one.node, one.job);
  world.Take(RegisterAgent{Back({Known(one.job, "0-1"), Known(JobId(40), "1-2"),
                                 Known(JobId(40), "1-2"), Known(JobId(41), "2-3")})});
  EXPECT_EQ(world.state.FindNode(one.node)->quarantined.size(), 2U);
  world.TellEnded(one.node, one.job, 2);
  EXPECT_EQ(world.EndOf(one.job)->state, JobState::kCompleted);
  EXPECT_EQ(world.state.FindNode(one.node)->taken.cpus.ToList(), "1-3");
  world.Take(RegisterAgent{Back({Known(JobId(40), "1-2")})});
  EXPECT_EQ(world.state.FindNode(one.node)->taken.cpus.ToList(), "1-2");
  EXPECT_EQ(world.state.FindNode(one.node)->taken.memory, kGibibyte);
}

TEST(Registration, WhatAnUnknownAttemptClaimsIsBoundedByTheMachine) {
  World world;
  const NodeId node = world.AddNode("n1", {.gpus = 1});
  KnownAttempt known = Known(JobId(40), "0-1,900");
  known.allocation.node = NodeId(7);
  known.allocation.memory = Bytes(UINT64_MAX);
  known.allocation.gpus = {{0, GpuShare(UINT32_MAX)}, {UINT32_MAX, kWholeGpu}};
  world.Take(RegisterAgent{Back({known, Known(JobId(41), "2")}, {.gpus = 1})});
  EXPECT_EQ(world.state.FindNode(node)->taken.cpus.ToList(), "0-2");
  EXPECT_EQ(world.state.FindNode(node)->taken.gpus, std::vector<GpuShare>{kWholeGpu});
}

TEST(Registration, AJobWithAnUnknownAttemptDoesNotStartBesideIt) {
  World world;
  const NodeId node = world.AddNode("n1");
  const JobId job = world.Submit(Tasks(1));
  const Plan early = world.MakePlanNow();
  world.Take(RegisterAgent{Back({Known(job, "0-1")})});
  world.Take(TakePlan{early});
  EXPECT_EQ(world.StateOf(job), JobState::kPending) << "not by a plan from before, either";
  EXPECT_EQ(world.ReasonFor(job).kind, ReasonKind::kCleaning);
  world.Take(TakeReport{node, Report{job, AttemptNumber(1), 9, RunEnded()}});
  world.Schedule();
  EXPECT_EQ(world.StateOf(job), JobState::kConfiguring);
  EXPECT_EQ(world.state.FindJob(job)->attempt->number, AttemptNumber(2))
      << "what the agent may still say of the other is not taken for this one's";
}

TEST(Registration, AMachineThatCameBackSmallerKeepsItsJobsAcrossARestart) {
  ResourceRequest request = Tasks(4);
  request.gpus_per_node.count = 2;
  OneJob one({.cores = 4, .gpus = 2}, request);
  one.world.TellStarted(one.node, one.job);
  one.world.Take(RegisterAgent{Back({Known(one.job, "0-3")}, {.cores = 2, .gpus = 1})});
  StateImage image;
  image.next_job = one.world.state.next_job();
  image.next_node = one.world.state.node_table().next();
  image.nodes.push_back(*one.world.state.FindNode(one.node));
  image.jobs.push_back(*one.world.state.FindJob(one.job));
  const ClusterState again(std::move(image));
  EXPECT_EQ(BrokenInvariant(again), std::nullopt);
  const JobId next = one.world.Submit(Tasks(1));
  one.world.Schedule();
  EXPECT_EQ(one.world.StateOf(next), JobState::kPending);
  one.world.TellEnded(one.node, one.job, 2);
  one.world.Schedule();
  EXPECT_EQ(one.world.StateOf(next), JobState::kConfiguring);
}

TEST(Reports, AJobRunsWhenAllItsNodesHaveStarted) {
  World world;
  const NodeId a = world.AddNode("n1", {.cores = 1});
  const NodeId b = world.AddNode("n2", {.cores = 1});
  const JobId job = world.Submit(Tasks(2));
  world.Schedule();
  EXPECT_EQ(Only<Acknowledge>(world.TellStarted(a, job)),
            (std::vector<Acknowledge>{{a, job, AttemptNumber(1), 1}}));
  EXPECT_EQ(world.StateOf(job), JobState::kConfiguring);
  world.TellStarted(b, job);
  EXPECT_EQ(world.StateOf(job), JobState::kRunning);
}

TEST(Reports, AFactReportedTwiceIsAcknowledgedTwiceAndTakenOnce) {
  OneJob one;
  one.world.TellStarted(one.node, one.job);
  const Transition again = one.world.TellStarted(one.node, one.job);
  EXPECT_TRUE(again.events.empty());
  EXPECT_EQ(Only<Acknowledge>(again).size(), 1U);
}

TEST(Reports, AFactThatCameBeforeItsPredecessorIsNotTakenOrAcknowledged) {
  OneJob one;
  const Transition transition = one.world.TellEnded(one.node, one.job, 3);
  EXPECT_EQ(transition.status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(one.world.StateOf(one.job), JobState::kConfiguring);
}

TEST(Reports, AnEndIsTakenWhateverReportsBeforeItTheNodeForgotWithItsPower) {
  OneJob one;
  one.world.TellStarted(one.node, one.job);
  const Transition transition =
      one.world.TellEnded(one.node, one.job, 1, EndCause::kNodeRebooted, ExitStatus{0, 9});
  EXPECT_EQ(Only<Acknowledge>(transition).size(), 1U);
  EXPECT_EQ(one.world.EndOf(one.job)->state, JobState::kNodeFail);
  EXPECT_TRUE(one.world.TellEnded(one.node, one.job, 1, EndCause::kNodeRebooted).events.empty());
}

TEST(Reports, OfANodeThatNeverRegisteredAreRefused) {
  OneJob one;
  EXPECT_EQ(one.world.TellStarted(NodeId(9), one.job).status.code(), absl::StatusCode::kNotFound);
}

TEST(Reports, OfWhatIsNotInTheStateAreAcknowledgedSoThatTheAgentForgetsThem) {
  OneJob one;
  one.world.TellStarted(one.node, one.job);
  one.world.TellEnded(one.node, one.job, 2);
  const Transition late = one.world.TellEnded(one.node, one.job, 2);
  EXPECT_TRUE(late.status.ok() && late.events.empty());
  EXPECT_EQ(Only<Acknowledge>(late).size(), 1U);
}

TEST(Reports, TheEndOfTheOnlyNodeEndsTheJobAndFreesItsThreads) {
  OneJob one;
  one.world.TellStarted(one.node, one.job);
  const Transition transition =
      one.world.TellEnded(one.node, one.job, 2, EndCause::kExited, ExitStatus{3, 0});
  EXPECT_EQ(one.world.EndOf(one.job)->state, JobState::kFailed);
  EXPECT_EQ(one.world.EndOf(one.job)->status.code, 3);
  EXPECT_EQ(Only<Replan>(transition).size(), 1U);
  EXPECT_TRUE(one.world.state.FindNode(one.node)->taken.cpus.Empty());
  EXPECT_TRUE(one.world.state.JobsOn(one.node).empty());
}

TEST(Reports, AJobThatCouldNotBeLaunchedEndsWithoutHavingStarted) {
  OneJob one;
  one.world.TellEnded(one.node, one.job, 1, EndCause::kLaunchFailed);
  EXPECT_EQ(one.world.EndOf(one.job)->state, JobState::kFailed);
}

TEST(Reports, AJobWhoseImageMayComeWaitsTwiceAsLongEachTimeAndThenFails) {
  OneJob one;
  const ExitStatus later{kTryAgainCode, 0};
  for (const int seconds : {30, 60, 120, 240}) {
    one.world.TellEnded(one.node, one.job, 1, EndCause::kLaunchFailed, later);
    ASSERT_EQ(one.world.StateOf(one.job), JobState::kPending);
    EXPECT_TRUE(one.world.state.FindNode(one.node)->taken.cpus.Empty());
    EXPECT_EQ(one.world.state.FindJob(one.job)->spec->begin,
              one.world.now + std::chrono::seconds(seconds));
    one.world.Schedule();
    EXPECT_EQ(one.world.StateOf(one.job), JobState::kPending) << "not before its time";
    one.world.now += std::chrono::seconds(seconds);
    one.world.Schedule();
    ASSERT_TRUE(one.world.state.FindJob(one.job)->attempt.has_value());
  }
  one.world.TellEnded(one.node, one.job, 1, EndCause::kLaunchFailed, later);
  ASSERT_TRUE(one.world.EndOf(one.job).has_value());
  EXPECT_EQ(one.world.EndOf(one.job)->state, JobState::kFailed);
  EXPECT_NE(one.world.EndOf(one.job)->text.find("given up after 5 starts"), std::string::npos);
}

// The end of a job on a node that scripts of the site blame.
RunEnded Faulty(EndCause cause) {
  RunEnded fact;
  fact.time = testing::At(1001);
  fact.cause = cause;
  fact.node_fault = "prolog /p: exit code 1: no disk";
  return fact;
}

TEST(Reports, AFailedPrologDrainsItsNodeAndTheJobThatNeverBeganWaitsAgain) {
  OneJob one;
  one.world.Tell(one.node, one.job, 1, Faulty(EndCause::kPrologFailed));
  EXPECT_TRUE(one.world.state.FindNode(one.node)->drained);
  EXPECT_EQ(one.world.state.FindNode(one.node)->drain_reason, "prolog /p: exit code 1: no disk");
  EXPECT_EQ(one.world.StateOf(one.job), JobState::kPending);
  const NodeId other = one.world.AddNode("n2");
  one.world.Schedule();
  EXPECT_EQ(one.world.state.FindJob(one.job)->attempt->allocation.nodes.front().node, other);
}

TEST(Reports, AJobThatMayNotRunAgainEndsWithItsNodesProlog) {
  World world;
  const NodeId node = world.AddNode("n1");
  JobSpec spec = world.Spec(Tasks(1));
  spec.requeue = Choice::kNo;
  const JobId job = world.Submit(spec);
  world.Schedule();
  world.Tell(node, job, 1, Faulty(EndCause::kPrologFailed));
  EXPECT_EQ(world.EndOf(job)->state, JobState::kNodeFail);
}

TEST(Reports, AFailedEpilogDrainsTheNodeAndLeavesTheJobItsEnd) {
  OneJob one;
  one.world.TellStarted(one.node, one.job);
  one.world.Tell(one.node, one.job, 2, Faulty(EndCause::kExited));
  EXPECT_EQ(one.world.EndOf(one.job)->state, JobState::kCompleted);
  EXPECT_TRUE(one.world.state.FindNode(one.node)->drained);
}

TEST(Reports, ANodeThatIsDrainedAlreadyKeepsItsReason) {
  OneJob one;
  one.world.TellStarted(one.node, one.job);
  one.world.Take(DrainNode{.name = "n1", .drained = true, .reason = "a new disk"});
  one.world.Tell(one.node, one.job, 2, Faulty(EndCause::kExited));
  EXPECT_EQ(one.world.state.FindNode(one.node)->drain_reason, "a new disk");
}

// Two nodes with one core each and one job of two tasks on both, started.
class TwoNodes {
 public:
  World world;
  NodeId a;
  NodeId b;
  JobId job;
  explicit TwoNodes(JobKind kind) {
    a = world.AddNode("n1", {.cores = 1});
    b = world.AddNode("n2", {.cores = 1});
    JobSpec spec = world.Spec(Tasks(2));
    spec.kind = kind;
    job = world.Submit(spec);
    world.Schedule();
    world.TellStarted(a, job);
    world.TellStarted(b, job);
  }
};

TEST(Reports, TheEndOfABatchScriptEndsItsOtherNodes) {
  TwoNodes two(JobKind::kBatch);
  const Transition transition = two.world.TellEnded(two.a, two.job, 2);
  EXPECT_EQ(Only<Terminate>(transition),
            (std::vector<Terminate>{{two.job, AttemptNumber(1), two.b, EndCause::kJobEnding}}));
  EXPECT_EQ(two.world.StateOf(two.job), JobState::kCompleting);
  two.world.TellEnded(two.b, two.job, 2, EndCause::kJobEnding, ExitStatus{0, 15});
  EXPECT_EQ(two.world.EndOf(two.job)->state, JobState::kCompleted);
}

TEST(Reports, ANodeOfARunThatEndedInOrderLeavesTheOthersRunning) {
  TwoNodes two(JobKind::kRun);
  const Transition transition = two.world.TellEnded(two.a, two.job, 2);
  EXPECT_TRUE(Only<Terminate>(transition).empty());
  EXPECT_EQ(two.world.StateOf(two.job), JobState::kRunning);
  two.world.TellEnded(two.b, two.job, 2);
  EXPECT_EQ(two.world.EndOf(two.job)->state, JobState::kCompleted);
}

TEST(Reports, ANodeOfARunThatExitedWithACodeLeavesTheOthersRunningAndDecides) {
  TwoNodes two(JobKind::kRun);
  const Transition transition =
      two.world.TellEnded(two.b, two.job, 2, EndCause::kExited, ExitStatus{7, 0});
  EXPECT_TRUE(Only<Terminate>(transition).empty());
  two.world.TellEnded(two.a, two.job, 2);
  EXPECT_EQ(two.world.EndOf(two.job)->state, JobState::kFailed);
  EXPECT_EQ(two.world.EndOf(two.job)->status.code, 7);
}

TEST(Reports, ANodeOfARunThatDiedOfASignalEndsTheOthersAndDecides) {
  TwoNodes two(JobKind::kRun);
  const Transition transition =
      two.world.TellEnded(two.b, two.job, 2, EndCause::kExited, ExitStatus{0, 11});
  EXPECT_EQ(Only<Terminate>(transition).size(), 1U);
  two.world.TellEnded(two.a, two.job, 2, EndCause::kJobEnding, ExitStatus{0, 15});
  EXPECT_EQ(two.world.EndOf(two.job)->state, JobState::kFailed);
  EXPECT_EQ(two.world.EndOf(two.job)->status.signal, 11);
}

TEST(Reports, OfANodeWhoseRunIsOverAreAcknowledgedWhateverTheirNumber) {
  TwoNodes two(JobKind::kBatch);
  two.world.TellEnded(two.b, two.job, 2, EndCause::kLostSupervisor);
  const Transition late = two.world.TellEnded(two.b, two.job, 9);
  EXPECT_TRUE(late.status.ok()) << "else the agent would send it for ever";
  EXPECT_TRUE(late.events.empty());
  EXPECT_EQ(Only<Acknowledge>(late).size(), 1U);
}

TEST(Reports, ARunTakenForLostThatIsStillThereIsQuarantined) {
  TwoNodes two(JobKind::kBatch);
  World& world = two.world;
  world.Take(LoseAgent{two.a});
  Registration without = Back({}, {.cores = 1});
  without.instance = "second";
  world.Take(RegisterAgent{without});
  ASSERT_EQ(world.StateOf(two.job), JobState::kCompleting);
  world.Take(LoseAgent{two.a});
  world.Take(RegisterAgent{Back({Known(two.job, "0")}, {.cores = 1})});
  EXPECT_EQ(world.state.FindNode(two.a)->quarantined.size(), 1U);
  world.TellEnded(two.b, two.job, 2, EndCause::kJobEnding);
  ASSERT_EQ(world.EndOf(two.job)->state, JobState::kNodeFail);
  EXPECT_FALSE(world.state.FindNode(two.a)->taken.cpus.Empty()) << "its processes still run there";
  world.Take(TakeReport{two.a, Report{two.job, AttemptNumber(1), 9, RunEnded()}});
  EXPECT_TRUE(world.state.FindNode(two.a)->taken.cpus.Empty());
}

TEST(Reports, BindingsAreKeptWithTheRun) {
  OneJob one;
  one.world.TellStarted(one.node, one.job);
  BindingRead read;
  read.ranks.resize(2);
  read.ranks[1].rank = 1;
  one.world.Tell(one.node, one.job, 2, read);
  EXPECT_EQ(one.world.state.FindJob(one.job)->attempt->runs[0].bindings.size(), 2U);
}

}  // namespace
}  // namespace muster::core

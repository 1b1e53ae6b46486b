// What the scheduler knows of checkpoints: the notice of a drain, the advice, the account.

#include "scheduler/core/handle/attempts/checkpoint_handlers.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <chrono>

#include "scheduler/core/state/tables/attempt.h"
#include "scheduler/core/state/tables/checkpoint_account.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::Only;
using testing::Tasks;
using testing::World;

constexpr Duration Seconds(std::int64_t count) {
  return std::chrono::seconds(count);
}

// A batch job on two nodes that runs since 1,000 s.
class CheckpointHandlers : public ::testing::Test {
 protected:
  CheckpointHandlers() {
    nodes_ = {world_.AddNode("n1"), world_.AddNode("n2")};
    job_ = world_.Submit(Spec());
    Run();
  }
  JobSpec Spec() const {
    ResourceRequest request = Tasks(2);
    request.min_nodes = request.max_nodes = 2;
    JobSpec spec = world_.Spec(request);
    spec.requeue = Choice::kYes;
    spec.requeue_exit = 85;
    return spec;
  }
  void Run() {
    world_.Schedule();
    ASSERT_TRUE(Of().attempt.has_value());
    index_ = 1;
    for (const NodeId node : nodes_) {
      world_.Tell(node, job_, index_, RunStarted{world_.now, 1, ""});
    }
  }
  const Job& Of() const { return *world_.state.FindJob(job_); }
  const Attempt& Now() const { return *Of().attempt; }
  // Both nodes tell of checkpoints; the newest began and was done then.
  void Save(std::uint64_t count, std::int64_t begun, std::int64_t committed,
            std::uint32_t notice = 0) {
    ++index_;
    for (const NodeId node : nodes_) {
      CheckpointRecord record;
      record.count = count;
      record.begun = testing::At(begun);
      record.committed = testing::At(committed);
      record.cost = Seconds(committed - begun);
      record.stall = static_cast<std::int64_t>(count) * record.cost;
      record.notice = notice;
      world_.Tell(node, job_, index_, RunCheckpointed{world_.now, record});
    }
  }
  void End(EndCause cause, ExitStatus status = ExitStatus()) {
    ++index_;
    for (const NodeId node : nodes_) {
      RunEnded ended;
      ended.time = world_.now;
      ended.cause = cause;
      ended.status = status;
      world_.Tell(node, job_, index_, ended);
    }
  }

  World world_;
  std::vector<NodeId> nodes_;
  JobId job_;
  std::uint64_t index_ = 0;
};

TEST_F(CheckpointHandlers, AnAttemptStartsWithTheMtbfOfItsNodes) {
  // Nothing was seen: the prior's 50,000 hours, of two nodes.
  EXPECT_EQ(Now().advice.number, kFirstAdvice);
  EXPECT_EQ(Now().advice.mtbf, std::chrono::hours(25'000));
  EXPECT_EQ(Now().advice.loss_mtbf, std::chrono::hours(50'000)) << "half of them are losses";
  EXPECT_EQ(Now().advice.notice, CheckpointNotice::kNone);
}

TEST_F(CheckpointHandlers, DrainingANodeAsksWhatRunsThereForACheckpointAndEndsNothing) {
  const Transition transition = world_.Take(DrainNode{"n2", true, "new fans"});
  ASSERT_TRUE(transition.status.ok());
  EXPECT_EQ(Now().advice.number, kFirstAdvice + 1);
  EXPECT_EQ(Now().advice.notice, CheckpointNotice::kDrain);
  EXPECT_EQ(Now().advice.mtbf, std::chrono::hours(25'000));
  EXPECT_EQ(Only<Advise>(transition).size(), 2U) << "its program on the other node as well";
  EXPECT_EQ(world_.StateOf(job_), JobState::kRunning);
  EXPECT_TRUE(Only<Advise>(world_.Take(DrainNode{"n2", true, "old fans"})).empty())
      << "another reason is no other drain";
  EXPECT_TRUE(Only<Advise>(world_.Take(DrainNode{"n2", false, ""})).empty());
  EXPECT_EQ(Only<Advise>(world_.Take(TakeNodeFault{nodes_[0], "GPU 0 fell off the bus"})).size(),
            2U);
  EXPECT_EQ(Now().advice.number, kFirstAdvice + 2);
}

TEST_F(CheckpointHandlers, WhatIsToldToEndIsAdvisedNoMore) {
  world_.Take(RequeueJob{job_, std::nullopt, world_.ada});
  EXPECT_NE(Now().ending, EndCause::kNone);
  EXPECT_TRUE(Only<Advise>(world_.Take(DrainNode{"n2", true, "new fans"})).empty());
  EXPECT_EQ(Now().advice.number, kFirstAdvice);
}

TEST_F(CheckpointHandlers, AdviceIsRepeatedToANodeThatComesBack) {
  world_.Take(DrainNode{"n2", true, "new fans"});
  world_.Take(LoseAgent{nodes_[0]});
  Registration again = World::RegistrationOf("n1", {});
  again.attempts = {KnownAttempt{job_, Now().number, false, Now().allocation.nodes[0]}};
  EXPECT_EQ(Only<Advise>(world_.Take(RegisterAgent{again})).size(), 1U);
}

TEST_F(CheckpointHandlers, WhenItsNodesFailMoreOftenAnAttemptThatSavesIsAdvisedAnew) {
  const JobId other = world_.Submit(Tasks(1));
  world_.Schedule();
  const NodeId node = world_.state.FindJob(other)->attempt->allocation.nodes[0].node;
  world_.TellStarted(node, other);
  world_.TellEnded(node, other, 2, EndCause::kLostSupervisor);
  EXPECT_TRUE(Only<Advise>(world_.Take(TickHealth{})).empty()) << "it never saved";
  Save(1, 1000, 1004);
  EXPECT_EQ(Only<Advise>(world_.Take(TickHealth{})).size(), 2U);
  EXPECT_EQ(Now().advice.number, kFirstAdvice + 1);
  EXPECT_EQ(Now().advice.mtbf, std::chrono::hours(12'500)) << "two failures in 50,000 h";
  EXPECT_EQ(Now().advice.loss_mtbf, std::chrono::hours(50'000)) << "what lay there is there";
  EXPECT_TRUE(Only<Advise>(world_.Take(TickHealth{})).empty());
}

TEST_F(CheckpointHandlers, WhenNodesAreLostMoreOftenItIsAdvisedAnew) {
  Save(1, 1000, 1004);
  const JobId other = world_.Submit(Tasks(1));
  world_.Schedule();
  const NodeId node = world_.state.FindJob(other)->attempt->allocation.nodes[0].node;
  world_.TellStarted(node, other);
  world_.TellEnded(node, other, 2, EndCause::kNodeRebooted);
  EXPECT_EQ(Only<Advise>(world_.Take(TickHealth{})).size(), 2U);
  EXPECT_EQ(Now().advice.mtbf, std::chrono::hours(12'500));
  EXPECT_NEAR(std::chrono::duration<double>(Now().advice.loss_mtbf).count() / 3600, 50'000 / 3.0, 1)
      << "one and a half in 50,000 h, of two nodes";
}

TEST_F(CheckpointHandlers, AnUnansweredNoticeIsNotTakenBack) {
  world_.Take(DrainNode{"n2", true, "new fans"});
  Save(1, 1000, 1004);
  const JobId other = world_.Submit(Tasks(1));
  world_.Schedule();
  world_.TellStarted(nodes_[0], other);
  world_.TellEnded(nodes_[0], other, 2, EndCause::kLostSupervisor);
  EXPECT_TRUE(Only<Advise>(world_.Take(TickHealth{})).empty());
  Save(2, 1010, 1014, kFirstAdvice + 1);
  EXPECT_EQ(Only<Advise>(world_.Take(TickHealth{})).size(), 2U);
}

// --- The account ---

TEST_F(CheckpointHandlers, ARequeuedAttemptIsAccounted) {
  Save(2, 1100, 1104);
  world_.now = testing::At(1130);
  world_.Take(RequeueJob{job_, std::nullopt, world_.ada});
  End(EndCause::kRequeued);
  EXPECT_EQ(world_.StateOf(job_), JobState::kPending);
  const CheckpointTotals totals = Of().checkpoints;
  EXPECT_EQ(totals.count, 2U);
  EXPECT_EQ(totals.held, Seconds(130));
  EXPECT_EQ(totals.stall, Seconds(8));
  EXPECT_EQ(totals.lost, Seconds(26));
  Run();
  world_.now = testing::At(1140);
  End(EndCause::kExited);
  EXPECT_EQ(world_.EndOf(job_).value().state, JobState::kCompleted);
}

TEST_F(CheckpointHandlers, WithoutACheckpointAllIsLostAndByItselfNothing) {
  world_.now = testing::At(1130);
  Job job = Of();
  EXPECT_EQ(LostWork(job, world_.now), Duration(0));
  EXPECT_EQ(TotalsAtEnd(job, world_.now).held, Seconds(130));
  job.attempt->runs[1].cause = EndCause::kNodeRebooted;
  EXPECT_EQ(LostWork(job, world_.now), Seconds(130));
  job.attempt->ending = EndCause::kJobEnding;
  EXPECT_EQ(LostWork(job, world_.now), Seconds(130));
  job.attempt->runs[0].checkpoints.restart = Seconds(30);  // it came back from an earlier one
  EXPECT_EQ(LostWork(job, world_.now), Seconds(100));
  job.attempt->ending = EndCause::kCancelled;
  EXPECT_EQ(LostWork(job, world_.now), Duration(0));
  job.attempt->ending = EndCause::kPreempted;
  EXPECT_EQ(LostWork(job, world_.now), Seconds(100));
}

TEST_F(CheckpointHandlers, OfSeveralNodesTheOneThatIsBehindCounts) {
  Attempt attempt = Now();
  EXPECT_EQ(CheckpointsOf(attempt), CheckpointRecord());
  CheckpointRecord& first = attempt.runs[0].checkpoints;
  first = {5,          testing::At(1500), testing::At(1504), Seconds(4), Seconds(20),
           Seconds(7), Seconds(90),       Bytes(100),        3};
  EXPECT_EQ(CheckpointsOf(attempt), first) << "the other node told of none";
  attempt.runs[1].checkpoints = {4,           testing::At(1400), testing::At(1402),
                                 Seconds(6),  Seconds(18),       Seconds(8),
                                 Seconds(80), Bytes(50),         2};
  const CheckpointRecord expected{4,           testing::At(1400), testing::At(1402),
                                  Seconds(6),  Seconds(20),       Seconds(8),
                                  Seconds(90), Bytes(150),        2};
  EXPECT_EQ(CheckpointsOf(attempt), expected);
}

TEST_F(CheckpointHandlers, ANodeThatMeasuredASignalOnlyHoldsNoOtherBack) {
  CheckpointRecord record;
  record.count = 3;
  record.slow = Seconds(4);
  world_.Tell(nodes_[1], job_, 2, RunCheckpointed{world_.now, record});
  record.count = 0;
  record.cost = record.slow = Seconds(7);
  world_.Tell(nodes_[0], job_, 2, RunCheckpointed{world_.now, record});
  index_ = 2;
  EXPECT_EQ(CheckpointsOf(Now()).count, 3U);
  EXPECT_EQ(CheckpointsOf(Now()).slow, Seconds(7));
  world_.Take(RequeueJob{job_, std::nullopt, world_.ada});
  End(EndCause::kRequeued);
  Run();
  EXPECT_EQ(Now().advice.slow, Seconds(7)) << "the next attempt knows";
}

TEST_F(CheckpointHandlers, WhatWasLostIsNeverMoreThanWhatWasHeld) {
  const Job base = Of();
  EXPECT_TRUE(rc::check([&] {
    Job job = base;
    const Time end = job.attempt->started + Seconds(*rc::gen::inRange(0, 1000));
    job.attempt->ending = EndCause::kRequeued;
    for (NodeRun& run : job.attempt->runs) {
      run.checkpoints.committed = job.attempt->started + Seconds(*rc::gen::inRange(-100, 1200));
      run.checkpoints.stall = Seconds(*rc::gen::inRange(0, 500));
      run.checkpoints.restart = Seconds(*rc::gen::inRange(0, 500));
    }
    const CheckpointTotals totals = TotalsAtEnd(job, end);
    RC_ASSERT(totals.lost >= Duration(0) && totals.lost <= totals.held);
  }));
}

// --- Running again ---

TEST_F(CheckpointHandlers, ARequeueAfterACheckpointCountsAgainstNoLimit) {
  Save(1, 1010, 1012);
  End(EndCause::kNodeRebooted);
  EXPECT_EQ(world_.StateOf(job_), JobState::kPending);
  EXPECT_EQ(Of().requeues, 0U);
  world_.now += std::chrono::minutes(20);
  Run();
  End(EndCause::kNodeRebooted);
  EXPECT_EQ(Of().requeues, 1U) << "without one it does";
}

TEST_F(CheckpointHandlers, OneThatSavesAndIsLostAgainAndAgainIsNeverHeld) {
  for (std::uint32_t i = 0; i < world_.config.requeues_max + 3; ++i) {
    Save(1, 1010, 1012);
    End(EndCause::kNodeRebooted);
    ASSERT_FALSE(Of().held);
    Run();
  }
}

TEST_F(CheckpointHandlers, AtItsLimitAJobThatSavedWhenItWasToldRunsAgain) {
  Save(3, 1010, 1012, kFirstAdvice + 1);
  End(EndCause::kTimeLimit);
  EXPECT_EQ(world_.StateOf(job_), JobState::kPending);
  EXPECT_EQ(Of().requeues, 0U);
  Run();
  Save(3, 1010, 1012, 0);
  End(EndCause::kTimeLimit);
  EXPECT_EQ(world_.EndOf(job_).value().state, JobState::kTimeout) << "it did not answer";
}

}  // namespace
}  // namespace muster::core

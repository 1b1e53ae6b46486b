#include "daemon/store/job_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/unit/daemon/store/store_rig.h"

namespace muster::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The values of a job that the image promises, without the shared pointer.
bool SameJob(const Job& a, const Job& b) {
  return a.id == b.id && a.submission == b.submission && a.array_index == b.array_index &&
         a.state == b.state && a.held == b.held && a.submitted == b.submitted &&
         a.last_attempt == b.last_attempt && a.attempt == b.attempt && *a.spec == *b.spec;
}

class JobStoreTest : public StoreTest {
 protected:
  void SetUp() override { Open(); }
  StateImage Load() {
    auto image = store_->Load();
    EXPECT_TRUE(image.ok()) << image.status();
    return image.ok() ? *std::move(image) : StateImage();
  }
};

// A controller that takes the lead commits beside its queue, which rests.
TEST_F(JobStoreTest, WhatTheQueueDoesWhileItRestsMeetsNoCommitOfAnotherThread) {
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    Open();
    std::thread queue([this] {
      store_->CheckpointAbove(0).IgnoreError();
      store_->TakeOldSecrets().IgnoreError();
    });
    Commit(make_.Of({EpochBegan{Epoch(static_cast<std::uint64_t>(round) + 1), At(round)}}));
    queue.join();
  }
  EXPECT_EQ(Load().version, Version(kRounds));
}

TEST_F(JobStoreTest, AFreshStoreLoadsAnEmptyImage) {
  const StateImage image = Load();
  EXPECT_EQ(image.version, Version(0));
  EXPECT_EQ(image.epoch, Epoch(0));
  EXPECT_EQ(image.next_job, JobId(1));
  EXPECT_EQ(image.next_node, NodeId(1));
  EXPECT_TRUE(image.jobs.empty());
  EXPECT_TRUE(image.nodes.empty());
  EXPECT_TRUE(image.tokens.empty());
}

TEST_F(JobStoreTest, AChangedJobAndAnAdminsHoldAreKeptAndThePastOfDependenciesIsLoaded) {
  JobSubmitted held = Submitted(3, "held");
  held.spec.held = true;
  JobSubmitted waits = Submitted(2, "waits");
  waits.spec.dependency.terms = {{DependencyKind::kAfterOk, JobId(1), std::nullopt, Duration(0)}};
  Batch batch = make_.Of({Submitted(1, "first"), waits, held});
  batch.ended = {Ended(1, 1, "ann", "FAILED", 100)};
  const auto waiting = [](const JobSubmitted& event) {
    Job job = RunningJob(event, 0);
    job.state = JobState::kPending;
    job.attempt.reset();
    job.last_attempt = AttemptNumber();
    return job;
  };
  Job changed = waiting(waits);
  JobSpec spec = waits.spec;
  spec.nice = 9;
  changed.changed_spec = std::make_shared<const JobSpec>(spec);
  changed.spec = changed.changed_spec;
  Job by_admin = waiting(held);
  by_admin.held = true;
  by_admin.held_by = HoldBy::kAdmin;
  batch.jobs = {changed, by_admin};
  Commit(batch);
  const StateImage image = Load();
  ASSERT_EQ(image.jobs.size(), 2U);
  EXPECT_EQ(image.jobs[0].spec->nice, 9);
  EXPECT_EQ(image.jobs[1].held_by, HoldBy::kAdmin);
  ASSERT_EQ(image.history.size(), 1U);
  EXPECT_EQ(image.history[0].job, JobId(1));
  EXPECT_EQ(image.history[0].failed, 1U);
}

TEST_F(JobStoreTest, AnEstimateAndAPromiseOfAJobThatIsElseAsSubmittedAreLoaded) {
  JobSubmitted alone = Submitted(1, "alone");
  alone.estimate = {Duration(70), Duration(60), EstimateSource::kUser, -5};
  JobSubmitted array = SubmittedArray(10, {{5, 9, 2}}, 3);
  array.estimate = {Duration(50), Duration(40), EstimateSource::kAlike, 9};
  Batch batch = make_.Of({alone, array});
  Job promised = RunningJob(alone, 0);
  promised.state = JobState::kPending;
  promised.attempt.reset();
  promised.last_attempt = AttemptNumber();
  promised.estimate = alone.estimate;
  promised.promised = At(900);
  batch.jobs = {promised};
  Commit(batch);
  const StateImage image = Load();
  ASSERT_EQ(image.jobs.size(), 1U);
  EXPECT_EQ(image.jobs[0].promised, At(900));
  EXPECT_EQ(image.jobs[0].estimate, alone.estimate);
  ASSERT_EQ(image.elements.size(), 1U);
  EXPECT_EQ(image.elements[0].first.estimate, array.estimate);
}

TEST_F(JobStoreTest, EveryEventIsReadBackAsItWasWritten) {
  RunReported reported{NodeId(1), {JobId(1), AttemptNumber(1), 1, RunStarted{At(5), 77, "limits"}}};
  RunReported bound{NodeId(1),
                    {JobId(1), AttemptNumber(1), 2, BindingRead{At(6), {RankBinding()}}}};
  RunReported step_end{NodeId(1),
                       {JobId(1), AttemptNumber(1), 3, StepEnded{StepId(1), At(7), {}, {}}}};
  RunReported over{NodeId(1), {JobId(1), AttemptNumber(1), 4, RunEnded{}}};
  StepStarted step{JobId(1),       AttemptNumber(1),      StepId(1), "step-token", "sleep",
                   ProgramOf("x"), AllocationOn("node1"), At(6)};
  Registration registration;
  registration.name = "node1";
  registration.machine.cores.resize(1);
  const GpuLayout layout{
      "GPU-a", 1, {{"3g.71gb", 9, {0, 4}}}, LayoutPhase::kFailed, 7, JobId(1), At(15), "in use"};
  JobSubmitted submitted = Submitted(1, "token");
  submitted.estimate = {Duration(70), Duration(60), EstimateSource::kUser, -5};
  const Batch batch = make_.Of(
      {EpochBegan{Epoch(3), At(1)}, submitted, JobHeld{JobId(1), true, At(3)},
       AttemptStarted{JobId(1), AttemptNumber(1), AllocationOn("node1"), At(4), 99, "p",
                      BillingRate(1'000'000), 0, 0},
       reported, bound,
       AttemptEnding{JobId(1), AttemptNumber(1), EndCause::kTimeLimit, "too long", At(5)}, step,
       step_end, over, JobEnded{JobId(1), JobState::kTimeout, {0, 15}, "too long", At(8)},
       NodeRegistered{NodeId(1), registration, At(9)}, NodeLost{NodeId(1), At(10)},
       NodeDrained{NodeId(1), true, "disk", At(11)},
       AttemptQuarantined{NodeId(1), {JobId(9), AttemptNumber(1), {}}, true, At(12)},
       StartPromised{JobId(1), At(99), At(13)},
       GpusOccupied{NodeId(1), {{0, 4711, "alice", "python", Bytes(12)}}, At(14)},
       GpuLayoutSet{NodeId(1), layout, true, At(15)}});
  Commit(batch);
  Open();
  EXPECT_EQ(Entries(), batch.entries);
  EXPECT_EQ(Load().epoch, Epoch(3));
  EXPECT_EQ(Load().version, Version(18));
}

TEST_F(JobStoreTest, ReadingTheJournalBeginsAndEndsWhereItIsTold) {
  Commit(make_.Of({Submitted(1, ""), JobHeld{JobId(1), true, At(1)},
                   JobHeld{JobId(1), false, At(2)}, JobHeld{JobId(1), true, At(3)}}));
  std::vector<std::uint64_t> versions;
  const auto two = [&versions](const JournalEntry& entry) {
    versions.push_back(entry.version.value());
    return versions.size() < 2;
  };
  ASSERT_TRUE(store_->ReadJournal(Version(2), two).ok());
  EXPECT_THAT(versions, ElementsAre(2, 3));
}

TEST_F(JobStoreTest, ASubmittedJobLoadsAsSubmitted) {
  JobSubmitted event = Submitted(7, "token");
  event.spec.held = true;
  Commit(make_.Of({event}));
  Open();
  const StateImage image = Load();
  ASSERT_EQ(image.jobs.size(), 1U);
  const Job& job = image.jobs[0];
  EXPECT_EQ(job.id, JobId(7));
  EXPECT_EQ(job.submission, JobId(7));
  EXPECT_FALSE(job.array_index.has_value());
  EXPECT_EQ(job.state, JobState::kPending);
  EXPECT_TRUE(job.held);
  EXPECT_EQ(job.submitted, event.time);
  EXPECT_EQ(*job.spec, event.spec);
  EXPECT_EQ(image.next_job, JobId(8));
  EXPECT_EQ(*store_->ReadProgram(JobId(7)), event.program);
}

TEST_F(JobStoreTest, AnUnknownProgramOrStepIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(store_->ReadProgram(JobId(5)).status()));
  EXPECT_TRUE(absl::IsNotFound(store_->ReadStep(JobId(5), AttemptNumber(1), StepId(1)).status()));
}

TEST_F(JobStoreTest, ARunningJobLoadsWithItsAttempt) {
  const JobSubmitted event = Submitted(1, "");
  Commit(make_.Of({event}));
  Batch started = make_.Small();
  started.jobs = {RunningJob(event, 0)};
  Commit(started);
  Open();
  const StateImage image = Load();
  ASSERT_EQ(image.jobs.size(), 1U);
  EXPECT_TRUE(SameJob(image.jobs[0], started.jobs[0]));
}

TEST_F(JobStoreTest, AJobThatIsAgainAsSubmittedNeedsNoRow) {
  const JobSubmitted event = Submitted(1, "");
  Commit(make_.Of({event}));
  Batch held = make_.Small();
  Job job = Load().jobs[0];
  job.held = true;
  held.jobs = {job};
  Commit(held);
  EXPECT_TRUE(Load().jobs[0].held);
  EXPECT_EQ(Count("SELECT count(*) FROM jobs"), 1);
  Batch released = make_.Small();
  job.held = false;
  released.jobs = {job};
  Commit(released);
  EXPECT_FALSE(Load().jobs[0].held);
  EXPECT_EQ(Count("SELECT count(*) FROM jobs"), 0);
}

TEST_F(JobStoreTest, AnArrayWithEndedAndRunningElementsLoadsTheRest) {
  const JobSubmitted event = SubmittedArray(10, {{5, 9, 2}, {100, 101, 1}}, 5);
  Commit(make_.Of({event}));
  Batch later = make_.Small();
  Job running = RunningJob(event, 1);
  running.array_index = 7;
  later.jobs = {running};
  later.ended = {Ended(10, 10, "ann", "COMPLETED", 50), Ended(13, 10, "ann", "FAILED", 60)};
  Commit(later);
  Open();
  const StateImage image = Load();
  ASSERT_EQ(image.jobs.size(), 1U);
  EXPECT_TRUE(SameJob(image.jobs[0], running));
  ASSERT_EQ(image.elements.size(), 2U);
  EXPECT_EQ(image.elements[0].first.id, JobId(12));
  EXPECT_EQ(image.elements[0].first.array_index, 9U);
  EXPECT_EQ(image.elements[0].count, 1U);
  EXPECT_EQ(image.elements[1].first.id, JobId(14));
  EXPECT_EQ(image.elements[1].first.array_index, 101U);
  EXPECT_EQ(image.elements[1].count, 1U);
  EXPECT_EQ(image.elements[0].first.spec, image.elements[1].first.spec);  // one spec, shared
  EXPECT_EQ(image.next_job, JobId(15));
}

TEST_F(JobStoreTest, AnEndedSubmissionIsNotExpandedAndItsIdIsNotGivenOutAgain) {
  Commit(make_.Of({Submitted(1, "")}));
  Batch end = make_.Small();
  end.ended = {Ended(1, 1, "ann", "COMPLETED", 50)};
  Commit(end);
  Open();
  EXPECT_TRUE(Load().jobs.empty());
  EXPECT_EQ(Load().next_job, JobId(2));
}

TEST_F(JobStoreTest, TheIdOfAnUnknownAttemptIsNotGivenOutAfterItIsOver) {
  Commit(
      make_.Of({AttemptQuarantined{NodeId(1), {JobId(90), AttemptNumber(1), {}}, false, At(1)}}));
  Commit(make_.Of({AttemptQuarantined{NodeId(1), {JobId(90), AttemptNumber(1), {}}, true, At(2)},
                   AttemptQuarantined{NodeId(1), {JobId(7), AttemptNumber(1), {}}, false, At(3)}}));
  Open();
  EXPECT_EQ(Load().next_job, JobId(91));
}

TEST_F(JobStoreTest, NumbersThatARestorationLeftOutStayLeftOut) {
  Commit(make_.Of({EpochBegan{.epoch = Epoch(9), .time = At(1), .next_job = JobId(1'000'007)}}));
  Open();
  EXPECT_EQ(Load().next_job, JobId(1'000'007));
  Commit(make_.Of({EpochBegan{Epoch(10), At(2)}}));
  EXPECT_EQ(Load().next_job, JobId(1'000'007));
}

TEST_F(JobStoreTest, AnArrayOfTenThousandIsOneRowAndOneRun) {
  Commit(make_.Of({SubmittedArray(1, {{0, 9999, 1}}, 10000)}));
  EXPECT_EQ(Count("SELECT count(*) FROM submissions"), 1);
  EXPECT_EQ(Count("SELECT count(*) FROM jobs"), 0);
  const StateImage image = Load();
  EXPECT_TRUE(image.jobs.empty());
  ASSERT_EQ(image.elements.size(), 1U);
  EXPECT_EQ(image.elements[0].first.id, JobId(1));
  EXPECT_EQ(image.elements[0].first.array_index, 0U);
  EXPECT_EQ(image.elements[0].count, 10000U);
}

TEST_F(JobStoreTest, ElementsThatEndTogetherHaveARowOfHistoryEach) {
  Commit(make_.Of({SubmittedArray(1, {{0, 9999, 1}}, 10000)}));
  Batch end = make_.Small();
  end.ended = {Ended(11, 1, "ann", "CANCELLED", 50)};
  end.ended[0].detail.job.indices = {{10, 9998, 1}};
  Commit(end);
  EXPECT_EQ(Count("SELECT count(*) FROM history"), 9989);
  EXPECT_EQ(Count("SELECT array_index FROM history WHERE id = 9999"), 9998);
  Open();
  const StateImage image = Load();
  ASSERT_EQ(image.elements.size(), 2U);
  EXPECT_EQ(image.elements[0].count, 10U);
  EXPECT_EQ(image.elements[1].first.id, JobId(10000));
}

TEST_F(JobStoreTest, NodesLoadWithTheirMachine) {
  auto machine = std::make_shared<Machine>();
  machine->cores.resize(2);
  Node node;
  node.id = NodeId(4);
  node.name = "node4";
  node.machine = machine;
  node.connected = true;
  node.drain_reason = "disk";
  Batch batch = make_.Of({NodeLost{NodeId(4), At(1)}});
  batch.nodes = {node};
  Commit(batch);
  Batch again = make_.Of({NodeLost{NodeId(4), At(2)}});
  node.connected = false;
  again.nodes = {node};
  Commit(again);
  Open();
  const StateImage image = Load();
  ASSERT_EQ(image.nodes.size(), 1U);
  EXPECT_EQ(image.nodes[0].name, "node4");
  EXPECT_FALSE(image.nodes[0].connected);
  EXPECT_EQ(image.nodes[0].drain_reason, "disk");
  EXPECT_EQ(*image.nodes[0].machine, *machine);
  EXPECT_EQ(image.next_node, NodeId(5));
}

TEST_F(JobStoreTest, TokensComeOldestFirstWithTheStepsOfLiveJobs) {
  const JobSubmitted event = Submitted(1, "first");
  Batch batch = make_.Of({event});
  batch.jobs = {RunningJob(event, 0)};
  Commit(batch);
  const StepStarted step{JobId(1),       AttemptNumber(1),      StepId(1), "step", "sleep",
                         ProgramOf("x"), AllocationOn("node1"), At(6)};
  Commit(make_.Of({step, Submitted(2, "second"), Submitted(3, "")}));
  const std::vector<TokenOwner> tokens = Load().tokens;
  ASSERT_EQ(tokens.size(), 3U);
  EXPECT_EQ(tokens[0].token, "first");
  EXPECT_EQ(tokens[0].job, JobId(1));
  EXPECT_EQ(tokens[0].step, StepId(0));
  EXPECT_EQ(tokens[1].token, "step");
  EXPECT_EQ(tokens[1].step, StepId(1));
  EXPECT_EQ(tokens[2].job, JobId(2));
  EXPECT_EQ(*store_->ReadStep(JobId(1), AttemptNumber(1), StepId(1)), step);
  Batch end = make_.Small();
  end.ended = {Ended(1, 1, "ann", "COMPLETED", 50)};
  Commit(end);
  EXPECT_EQ(Load().tokens.size(), 2U);
  EXPECT_EQ(*store_->FindToken("second"), JobId(2));
  EXPECT_EQ(*store_->FindToken("third"), std::nullopt);
  EXPECT_EQ(*store_->FindToken(""), std::nullopt);
}

TEST_F(JobStoreTest, ManyBatchesAreOneTransaction) {
  Commit(make_.Of({Submitted(1, "")}));
  const std::uint64_t before = store_->transactions();
  std::vector<Batch> batches(50);
  for (Batch& batch : batches) {
    batch = make_.Small();
  }
  ASSERT_TRUE(store_->Commit(batches).ok());
  EXPECT_EQ(store_->transactions(), before + 1);
  EXPECT_EQ(Load().version, Version(51));
}

TEST_F(JobStoreTest, AGapInTheVersionsIsRefusedAndNothingIsWritten) {
  Commit(make_.Of({Submitted(1, "")}));
  std::vector<Batch> batches = {make_.Small(), make_.Small()};
  batches[1].entries[0].version = Version(9);
  const absl::Status status = store_->Commit(batches);
  EXPECT_TRUE(absl::IsInternal(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("entry 9 does not follow 2"));
  EXPECT_EQ(Load().version, Version(1));
}

TEST_F(JobStoreTest, AJobCannotEndTwiceAndTheWholeGroupIsUndone) {
  Commit(make_.Of({Submitted(1, "")}));
  std::vector<Batch> batches = {make_.Small(), make_.Small()};
  batches[0].ended = {Ended(1, 1, "ann", "COMPLETED", 50)};
  batches[1].ended = batches[0].ended;
  EXPECT_TRUE(absl::IsInternal(store_->Commit(batches)));
  EXPECT_EQ(Load().version, Version(1));
  EXPECT_EQ(Load().jobs.size(), 1U);
  ASSERT_TRUE(store_->Commit({batches.data(), 1}).ok());
  EXPECT_TRUE(Load().jobs.empty());
}

TEST_F(JobStoreTest, RowsThatContradictEachOtherAreAnError) {
  Commit(make_.Of({SubmittedArray(1, {{0, 4, 1}}, 5)}));
  store_.reset();
  {
    auto database = LookInto(directory_.path());
    ASSERT_TRUE((*database)->Execute("UPDATE submissions SET open = 2").ok());
  }
  Open();
  const absl::Status status = store_->Load().status();
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("submission 1: counts 2 open jobs of 5"));
}

TEST_F(JobStoreTest, ACheckpointShortensNothingThatWasCommitted) {
  Commit(make_.Of({Submitted(1, "")}));
  ASSERT_TRUE(store_->CheckpointAbove(0).ok());
  Commit(make_.Small());
  ASSERT_TRUE(store_->CheckpointAbove(0).ok());
  EXPECT_EQ(Load().version, Version(2));
  Open();
  EXPECT_EQ(Load().version, Version(2));
}

}  // namespace
}  // namespace muster::daemon

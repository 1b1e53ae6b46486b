#include "daemon/store/rows/old_secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/store/database/blob.h"
#include "tests/unit/daemon/store/store_rig.h"

namespace muster::daemon {
namespace {

using ::testing::IsEmpty;

// A store whose rows are as the schema before had them: whole programs, nothing beside them.
class OldSecretsTest : public StoreTest {
 protected:
  void SetUp() override { Open(); }
  void MakeOld(const std::vector<JournalEntry>& entries) {
    store_.reset();
    WriteOld(entries);
    Open();
  }
  void WriteOld(const std::vector<JournalEntry>& entries) {
    auto database = LookInto(directory_.path());
    ASSERT_TRUE(database.ok()) << database.status();
    Statement put_program(**database,
                          "UPDATE programs SET payload = ?, secret = NULL WHERE submission = ?");
    Statement put_entry(**database, "UPDATE journal SET payload = ? WHERE version = ?");
    for (JournalEntry entry : entries) {
      std::string payload;
      if (auto* submitted = std::get_if<JobSubmitted>(&entry.event)) {
        Encode(submitted->program, &payload);
        ASSERT_TRUE(put_program.Run(Blob{payload}, submitted->first.value()).ok());
        submitted->program = Program();
        submitted->spec = JobSpec();
      }
      Encode(entry, &payload);
      ASSERT_TRUE(put_entry.Run(Blob{payload}, entry.version.value()).ok());
    }
    ASSERT_TRUE((*database)->Execute("UPDATE steps SET secret = NULL").ok());
    ASSERT_TRUE((*database)
                    ->Execute("INSERT INTO meta SELECT 'whole_entries', max(version) FROM journal")
                    .ok());
  }
  int TakeAll() {
    int pieces = 0;
    while (true) {
      const absl::StatusOr<bool> more = store_->TakeOldSecrets();
      EXPECT_TRUE(more.ok()) << more.status();
      if (!more.value_or(false)) {
        return pieces;
      }
      ++pieces;
    }
  }
};

StepStarted StepOf(std::uint64_t job) {
  return {JobId(job),     AttemptNumber(1),      StepId(1), "", "sleep",
          ProgramOf("x"), AllocationOn("node1"), At(6)};
}

TEST_F(OldSecretsTest, AFreshStoreHasNone) {
  EXPECT_EQ(TakeAll(), 0);
}

TEST_F(OldSecretsTest, RowsAreReadAsTheyWereUntilTheirSecretsAreTaken) {
  const Batch batch = make_.Of({Submitted(1, ""), StepOf(1)});
  Commit(batch);
  MakeOld(batch.entries);
  EXPECT_EQ(Entries(), batch.entries);
  EXPECT_EQ(*store_->ReadProgram(JobId(1)), ProgramOf("#!/bin/sh\ntrue\n"));
}

TEST_F(OldSecretsTest, OfEndedJobsTheyGoAndOfOthersNothingIsLost) {
  JobSubmitted both = Submitted(3, "");
  both.count = 2;
  both.spec.kind = JobKind::kRun;
  both.components = {{both.spec, ProgramOf("")}};
  Batch batch = make_.Of({Submitted(1, ""), Submitted(2, ""), StepOf(1), StepOf(2), both});
  batch.ended = {Ended(1, 1, "ann", "COMPLETED", 50)};
  Commit(batch);
  MakeOld(batch.entries);
  EXPECT_EQ(TakeAll(), 1);
  EXPECT_THAT(store_->ReadProgram(JobId(1))->script, IsEmpty());
  EXPECT_THAT(store_->ReadProgram(JobId(1))->environment, IsEmpty());
  EXPECT_THAT(store_->ReadStep(JobId(1), AttemptNumber(1), StepId(1))->program.environment,
              IsEmpty());
  EXPECT_EQ(*store_->ReadProgram(JobId(2)), Submitted(2, "").program);
  EXPECT_EQ(*store_->ReadStep(JobId(2), AttemptNumber(1), StepId(1)), StepOf(2));
  EXPECT_EQ(*store_->ReadProgram(JobId(4)), ProgramOf(""));
  Batch end = make_.Small();
  end.ended = {Ended(2, 2, "ann", "COMPLETED", 60), Ended(3, 3, "ann", "COMPLETED", 60),
               Ended(4, 3, "ann", "COMPLETED", 60)};
  Commit(end);
  for (const JournalEntry& entry : Entries()) {
    if (const auto* submitted = std::get_if<JobSubmitted>(&entry.event)) {
      EXPECT_THAT(submitted->program.environment, IsEmpty());
      for (const Component& component : submitted->components) {
        EXPECT_THAT(component.program.environment, IsEmpty());
      }
    } else if (const auto* step = std::get_if<StepStarted>(&entry.event)) {
      EXPECT_THAT(step->program.environment, IsEmpty());
    }
  }
}

TEST_F(OldSecretsTest, EachPieceIsItsOwnTransactionAndIsNotTakenAgainAfterARestart) {
  std::vector<Event> events;
  for (std::uint64_t first = 1; first <= 1500; ++first) {
    events.emplace_back(Submitted(first, ""));
  }
  const Batch batch = make_.Of(std::move(events));
  Commit(batch);
  MakeOld(batch.entries);
  EXPECT_TRUE(*store_->TakeOldSecrets());
  Open();
  EXPECT_EQ(TakeAll(), 1);
  EXPECT_EQ(Entries(), batch.entries);
}

}  // namespace
}  // namespace muster::daemon

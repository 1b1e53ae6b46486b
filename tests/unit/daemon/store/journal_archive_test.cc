#include "daemon/store/archive/journal_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "daemon/store/archive/compressed_file.h"
#include "daemon/store/archive/ended_jobs.h"
#include "daemon/store/archive/journal_reader.h"
#include "daemon/store/archive/journal_segment.h"
#include "daemon/store/database/schema.h"
#include "daemon/store/database/table_rows.h"
#include "daemon/store/rows/journal.h"
#include "daemon/store/rows/row_eraser.h"
#include "daemon/store/sqlite/migrations.h"
#include "daemon/store/state_reader.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/state_hash.h"
#include "scheduler/runtime/file.h"
#include "tests/unit/daemon/store/store_rig.h"

namespace muster::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr Duration kHour = std::chrono::hours(1);

class JournalArchiveTest : public StoreTest {
 protected:
  void SetUp() override {
    Open();
    auto reader = store_->OpenReader();
    ASSERT_TRUE(reader.ok()) << reader.status();
    reader_ = *std::move(reader);
    auto archive = JournalArchive::Open(directory_ / "archive");
    ASSERT_TRUE(archive.ok()) << archive.status();
    archive_ = *std::move(archive);
  }
  JournalBeginning Take(std::int64_t now = 0) {
    auto taken = archive_.Take(*reader_, At(now));
    EXPECT_TRUE(taken.ok()) << taken.status();
    return taken.value_or(JournalBeginning());
  }
  void Archive(Version begins, Version last) {
    const absl::Status written = archive_.Write(*reader_, begins, last, Scripts::kErased);
    ASSERT_TRUE(written.ok()) << written;
    Drop(FindDroppedEntries(*reader_, last));
  }
  void Drop(const absl::StatusOr<DroppedJobs>& jobs) {
    ASSERT_TRUE(jobs.ok()) << jobs.status();
    Drop(jobs->fresh);
    Drop(jobs->archived);
  }
  void Drop(const absl::StatusOr<std::vector<Drops>>& pieces) {
    ASSERT_TRUE(pieces.ok()) << pieces.status();
    for (const Drops& piece : *pieces) {
      Batch batch;
      batch.drops.push_back(piece);
      Commit(batch);
    }
  }
  void End(std::uint64_t job, std::uint64_t submission, std::int64_t when) {
    Batch batch = make_.Of({JobEnded{JobId(job), JobState::kCompleted, {}, "", At(when)}});
    batch.ended = {Ended(job, submission, "ann", "COMPLETED", when)};
    batch.attempts = {AttemptOf(job, 1)};
    Commit(batch);
  }
  StateImage State(Database& database) {
    auto image = ReadState(database);
    EXPECT_TRUE(image.ok()) << image.status();
    return image.value_or(StateImage());
  }
  static std::uint64_t Print(StateImage image) {
    return core::HashOf(core::ClusterState(std::move(image)));
  }
  std::vector<JournalEntry> EntriesFrom(Version from) {
    std::vector<JournalEntry> entries;
    const absl::Status read = store_->ReadJournal(from, [&](const JournalEntry& entry) {
      entries.push_back(entry);
      return true;
    });
    EXPECT_TRUE(read.ok()) << read;
    return entries;
  }
  std::unique_ptr<Database> reader_;
  JournalArchive archive_{""};
};

TEST_F(JournalArchiveTest, ABeginningIsTheStateAtItsVersion) {
  JobSubmitted array = SubmittedArray(2, {{1, 5, 1}}, 5);
  Commit(make_.Of({Submitted(1, "token"), array, HalfLifeSet{Duration(5), At(1)}}));
  End(3, 2, 1500);
  const StateImage before = State(*reader_);
  const JournalBeginning taken = Take(7000);
  EXPECT_EQ(taken.version, before.version);
  EXPECT_EQ(taken.taken, At(7000));
  End(1, 1, 2000);
  auto file = SqliteDatabase::Open(taken.path, SqliteDatabase::Mode::kReadOnly);
  ASSERT_TRUE(file.ok()) << file.status();
  const StateImage read = State(**file);
  EXPECT_EQ(read.version, before.version);
  EXPECT_EQ(read.next_job, before.next_job);
  EXPECT_EQ(read.half_life, Duration(5));
  EXPECT_EQ(Print(read), Print(before));
  EXPECT_THAT(archive_.Beginnings(), SizeIs(1));
}

TEST_F(JournalArchiveTest, ABeginningKnowsWhatBecameOfTheJobsThatLiveOnesDependOn) {
  Commit(make_.Of({Submitted(1, "")}));
  End(1, 1, 1500);
  JobSubmitted after = Submitted(2, "");
  after.spec.dependency.terms = {{DependencyKind::kAfterOk, JobId(1), std::nullopt}};
  Commit(make_.Of({after}));
  auto file = SqliteDatabase::Open(Take().path, SqliteDatabase::Mode::kReadOnly);
  ASSERT_TRUE(file.ok()) << file.status();
  const StateImage read = State(**file);
  ASSERT_THAT(read.history, SizeIs(1));
  EXPECT_EQ(read.history[0].job, JobId(1));
  EXPECT_EQ(read.history[0].ended, 1U);
  EXPECT_EQ(read.history[0].started, State(*reader_).history[0].started);
}

TEST_F(JournalArchiveTest, AJournalBeginsAgainAndTheStoreLoadsAsBefore) {
  Commit(make_.Of({Submitted(1, "token"), Submitted(2, "second")}));
  End(2, 2, 1500);
  const JournalBeginning beginning = Take();
  Commit(make_.Of({Submitted(3, "third")}));
  const std::uint64_t before = Print(State(*reader_));
  Archive(Version(1), beginning.version);
  EXPECT_EQ(*ReadJournalBegins(*reader_), beginning.version.Next());
  EXPECT_THAT(EntriesFrom(beginning.version.Next()), SizeIs(1));
  const absl::Status early = store_->ReadJournal(Version(1), [](const auto&) { return true; });
  EXPECT_TRUE(absl::IsOutOfRange(early)) << early;
  EXPECT_THAT(std::string(early.message()), HasSubstr("entries before 4 are in the archive"));
  reader_.reset();
  Open();
  auto loaded = store_->Load();
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->version, Version(4));
  EXPECT_EQ(Print(*std::move(loaded)), before);
}

TEST_F(JournalArchiveTest, TheEntriesOfLiveJobsStayUntilTheyHaveEnded) {
  Commit(make_.Of({Submitted(1, ""), Submitted(2, ""), JobHeld{JobId(2), true, At(1)},
                   JobHeld{JobId(2), false, At(2)}}));
  const Version first = Take().version;
  Archive(Version(1), first);
  EXPECT_EQ(Count("SELECT count(*) FROM journal"), 3) << "the submissions, and the newest";
  End(1, 1, 2000);
  const Version second = Take().version;
  Archive(first.Next(), second);
  EXPECT_EQ(Count("SELECT count(*) FROM journal WHERE version IN (1, 3, 4)"), 0);
  EXPECT_EQ(Count("SELECT count(*) FROM journal WHERE version = 2"), 1);
  EXPECT_EQ(State(*reader_).version, second) << "the number of the last entry is never lost";
}

TEST_F(JournalArchiveTest, AStepOfALiveJobCanStillBeReadWhenItsEntryIsOld) {
  Commit(make_.Of({Submitted(1, "")}));
  Batch running = make_.Of({StepStarted{JobId(1), AttemptNumber(1), StepId(1), "t", "sleep",
                                        ProgramOf("x"), AllocationOn("node1"), At(6)}});
  running.jobs = {RunningJob(Submitted(1, ""), 0)};
  Commit(running);
  Commit(make_.Small());
  Archive(Version(1), Take().version);
  const auto step = store_->ReadStep(JobId(1), AttemptNumber(1), StepId(1));
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_EQ(step->program.environment, ProgramOf("x").environment);
}

TEST_F(JournalArchiveTest, ChangesOfPolicyStayInTheJournal) {
  PolicyChanged change;
  change.object = Partition();
  std::get<Partition>(change.object).name = "debug";
  change.time = At(5);
  Commit(make_.Of({change}));
  Commit(make_.Small());
  Archive(Version(1), Take().version);
  const auto history = store_->ReadPolicyHistory(10);
  ASSERT_TRUE(history.ok()) << history.status();
  EXPECT_THAT(*history, SizeIs(1));
}

TEST_F(JournalArchiveTest, ASegmentHasItsEntriesWholeAndNoSecret) {
  Commit(make_.Of({Submitted(1, "token"), JobHeld{JobId(1), true, At(1)}}));
  const Version last = Take().version;
  Commit(make_.Small());
  Archive(Version(1), last);
  const std::vector<JournalSegment> segments = archive_.Segments();
  ASSERT_THAT(segments, SizeIs(1));
  EXPECT_EQ(segments[0].first, Version(1));
  EXPECT_EQ(segments[0].last, last);
  auto journal = JournalReader::Open(segments[0].path);
  ASSERT_TRUE(journal.ok()) << journal.status();
  std::vector<JournalEntry> entries;
  const absl::Status read = (*journal)->Read(
      [&](const JournalEntry& entry) {
        entries.push_back(entry);
        return true;
      },
      [](const CycleRecord&) { return true; });
  ASSERT_TRUE(read.ok()) << read;
  JobSubmitted expected = Submitted(1, "token");
  expected.program.environment.clear();
  expected.program.script.clear();
  ASSERT_THAT(entries, SizeIs(2));
  EXPECT_EQ(entries[0], (JournalEntry{Version(1), expected}));
  const std::string plain = directory_ / "plain.db";
  ASSERT_TRUE(DecompressFile(segments[0].path, plain).ok());
  EXPECT_THAT(*ReadFile(plain), Not(HasSubstr("HOME=/home/ann")));
  EXPECT_THAT(*ReadFile(plain), Not(HasSubstr("#!/bin/sh")));
}

TEST_F(JournalArchiveTest, ALaterSegmentBeginsWithTheStateBeforeIt) {
  Commit(make_.Of({Submitted(1, "")}));
  const Version first = Take().version;
  Archive(Version(1), first);
  const std::uint64_t then = Print(State(*reader_));
  Commit(make_.Of({Submitted(2, ""), JobHeld{JobId(1), true, At(3)}}));
  const Version second = Take().version;
  Archive(first.Next(), second);
  archive_.RemoveBefore(second);
  EXPECT_THAT(archive_.Beginnings(), SizeIs(1));
  const std::vector<JournalSegment> segments = archive_.Segments();
  ASSERT_THAT(segments, SizeIs(2));
  auto journal = JournalReader::Open(segments[1].path);
  ASSERT_TRUE(journal.ok()) << journal.status();
  auto beginning = (*journal)->ReadBeginning();
  ASSERT_TRUE(beginning.ok()) << beginning.status();
  EXPECT_EQ(beginning->version, first);
  EXPECT_EQ(Print(*std::move(beginning)), then);
}

TEST_F(JournalArchiveTest, ASegmentWhoseBeginningIsElsewhereIsNotWritten) {
  Commit(make_.Of({Submitted(1, "")}));
  const Version first = Take().version;
  Archive(Version(1), first);
  Commit(make_.Small());
  archive_.RemoveBefore(first.Next());
  const absl::Status status =
      archive_.Write(*reader_, first.Next(), first.Next(), Scripts::kErased);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("retention.archive"));
}

TEST_F(JournalArchiveTest, AnEndedJobGoesWholeOnceItIsOldEnough) {
  Commit(make_.Of({Submitted(1, "token"), Submitted(2, "")}));
  End(1, 1, 1000);
  End(2, 2, 1000 + 2 * kHour.count());
  Archive(Version(1), Take().version);
  const JobsKept kept{Duration(kHour * 2), 0, kHour};
  Drop(FindDroppedJobs(*reader_, kept, At(1000) + 3 * kHour));
  EXPECT_EQ(Count("SELECT count(*) FROM history"), 1);
  EXPECT_EQ(Count("SELECT min(id) FROM history"), 2);
  for (const char* table : {"attempts", "submissions", "programs"}) {
    EXPECT_EQ(Count(absl::StrCat("SELECT count(*) FROM ", table)), 1) << table;
  }
}

TEST_F(JournalArchiveTest, IdsThatWereGivenOutStayGivenOut) {
  Commit(make_.Of({Submitted(1, ""), SubmittedArray(2, {{1, 3, 1}}, 3)}));
  for (const std::uint64_t job : {1U, 2U, 3U, 4U}) {
    End(job, job == 1 ? 1 : 2, 1000);
  }
  Archive(Version(1), Take().version);
  Drop(FindDroppedJobs(*reader_, {kHour, 0, kHour}, At(1000) + 2 * kHour));
  EXPECT_EQ(Count("SELECT count(*) FROM submissions"), 0);
  EXPECT_EQ(State(*reader_).next_job, JobId(5));
}

TEST_F(JournalArchiveTest, AnArrayStaysUntilItsLastElementIsOldEnough) {
  Commit(make_.Of({SubmittedArray(1, {{1, 2, 1}}, 2)}));
  End(1, 1, 1000);
  End(2, 1, 1000 + 5 * kHour.count());
  Archive(Version(1), Take().version);
  Drop(FindDroppedJobs(*reader_, {kHour, 0, kHour}, At(1000) + 5 * kHour));
  EXPECT_EQ(Count("SELECT count(*) FROM history"), 2);
  Drop(FindDroppedJobs(*reader_, {kHour, 0, kHour}, At(1000) + 7 * kHour));
  EXPECT_EQ(Count("SELECT count(*) FROM history"), 0);
}

TEST_F(JournalArchiveTest, AJobThatALiveOneDependsOnStays) {
  JobSubmitted after = Submitted(2, "");
  after.spec.dependency.terms = {{DependencyKind::kAfterOk, JobId(1), std::nullopt}};
  Commit(make_.Of({Submitted(1, ""), after}));
  End(1, 1, 1000);
  Archive(Version(1), Take().version);
  Drop(FindDroppedJobs(*reader_, {kHour, 0, kHour}, At(1000) + 9 * kHour));
  EXPECT_EQ(Count("SELECT count(*) FROM history"), 1);
}

TEST_F(JournalArchiveTest, AJobThatTheJournalNamesStays) {
  Commit(make_.Of({Submitted(1, "")}));
  End(1, 1, 1000);
  const auto drops = FindDroppedJobs(*reader_, {kHour, 0, kHour}, At(1000) + 9 * kHour);
  ASSERT_TRUE(drops.ok()) << drops.status();
  EXPECT_THAT(drops->fresh, IsEmpty());
}

TEST_F(JournalArchiveTest, OfTooManyJobsTheNewestStay) {
  for (std::uint64_t job = 1; job <= 5; ++job) {
    Commit(make_.Of({Submitted(job, "")}));
    End(job, job, 1000 * static_cast<std::int64_t>(job));
  }
  Archive(Version(1), Take().version);
  Drop(FindDroppedJobs(*reader_, {Duration(0), 2, kHour}, At(9000) + kHour));
  EXPECT_EQ(Count("SELECT count(*) FROM history"), 2);
  EXPECT_EQ(Count("SELECT min(id) FROM history"), 4);
}

TEST_F(JournalArchiveTest, NoJobGoesWithinTheHourInWhichItsClientMayAskAgain) {
  Commit(make_.Of({Submitted(1, "token")}));
  End(1, 1, 1000);
  Archive(Version(1), Take().version);
  const auto drops = FindDroppedJobs(*reader_, {Duration(1), 0, kHour}, At(2000));
  ASSERT_TRUE(drops.ok()) << drops.status();
  EXPECT_THAT(drops->fresh, IsEmpty());
}

TEST_F(JournalArchiveTest, JobsThatWereLoadedStayForTheirTimeAndAreNotArchivedAgain) {
  Commit(make_.Of({Submitted(1, "")}));
  End(1, 1, 1000);
  Archive(Version(1), Take().version);
  Batch batch;
  batch.loads.push_back({{}, {JobId(1)}, At(1000) + 5 * kHour});
  Commit(batch);
  const auto early = FindDroppedJobs(*reader_, {kHour, 0, kHour}, At(1000) + 4 * kHour);
  ASSERT_TRUE(early.ok()) << early.status();
  EXPECT_THAT(early->fresh, IsEmpty());
  EXPECT_THAT(early->archived, IsEmpty());
  const auto late = FindDroppedJobs(*reader_, {kHour, 0, kHour}, At(1000) + 6 * kHour);
  ASSERT_TRUE(late.ok()) << late.status();
  EXPECT_THAT(late->fresh, IsEmpty());
  ASSERT_THAT(late->archived, SizeIs(1));
  Drop(late);
  EXPECT_EQ(Count("SELECT count(*) FROM history"), 0);
  EXPECT_EQ(Count("SELECT count(*) FROM loaded"), 0);
}

TEST_F(JournalArchiveTest, ASubmissionGoesWithAJobOfItsOwnHoweverManyItHas) {
  Commit(make_.Of({SubmittedArray(1, {{1, 256, 1}}, 256)}));
  for (std::uint64_t job = 1; job <= 256; ++job) {
    End(job, 1, 1000);
  }
  Archive(Version(1), Take().version);
  const auto drops = FindDroppedJobs(*reader_, {kHour, 0, kHour}, At(1000) + 9 * kHour);
  ASSERT_TRUE(drops.ok()) << drops.status();
  ASSERT_THAT(drops->fresh, SizeIs(2));
  EXPECT_THAT(drops->fresh[0].submissions, IsEmpty());
  EXPECT_THAT(drops->fresh[1].jobs, SizeIs(128));
  EXPECT_THAT(drops->fresh[1].submissions, ElementsAre(JobId(1)));
}

// Who adds a table decides here whether a state has rows of it: then CopyState copies them.
TEST_F(JournalArchiveTest, EveryTableIsPartOfABeginningOrKnownNotToBe) {
  const std::set<std::string> of_the_state = {
      "journal",       "submissions", "jobs",   "history",     "attempts",
      "steps",         "nodes",       "meta",   "policy",      "node_health",
      "node_failures", "node_power",  "alerts", "narrow_links"};
  const std::set<std::string> of_entries = {"settings", "passes"};
  const std::set<std::string> beside = {"programs", "health", "tunings", "job_notes", "loaded"};
  std::size_t known = 0;
  for (const TableOf& table : Tables()) {
    const auto is_in = [&table](const std::set<std::string>& names) {
      return names.contains(table.name);
    };
    EXPECT_EQ(is_in(of_the_state) + is_in(of_entries) + is_in(beside), 1) << table.name;
    ++known;
  }
  EXPECT_EQ(known, of_the_state.size() + of_entries.size() + beside.size());
}

TEST_F(JournalArchiveTest, WhatWasLeftWhenDroppingWasCutOffGoesTheNextTime) {
  std::vector<Event> events;
  for (int i = 0; i < 1500; ++i) {
    events.emplace_back(JobHeld{JobId(1), true, At(1)});
  }
  Commit(make_.Of(std::move(events)));
  auto pieces = FindDroppedEntries(*reader_, Version(1400));
  ASSERT_TRUE(pieces.ok()) << pieces.status();
  pieces->resize(1);
  Drop(pieces);
  EXPECT_EQ(*ReadJournalBegins(*reader_), Version(1401));
  EXPECT_EQ(Count("SELECT count(*) FROM journal"), 1500 - 512);
  pieces = FindDroppedEntries(*reader_, Version(1450));
  ASSERT_TRUE(pieces.ok()) << pieces.status();
  EXPECT_LE(pieces->size(), 4U) << "in ranges, not one by one";
  Drop(pieces);
  EXPECT_EQ(Count("SELECT count(*) FROM journal"), 51);
}

TEST_F(JournalArchiveTest, ATableIsCopiedRowByRowAndSoIsAPartOfIt) {
  for (std::uint64_t job = 1; job <= 3; ++job) {
    Commit(make_.Of({Submitted(job, "")}));
  }
  auto file = SqliteDatabase::Open(directory_ / "copy.db", SqliteDatabase::Mode::kReadWrite);
  ASSERT_TRUE(file.ok() && Migrate(**file).ok());
  const TableOf submissions = Tables()[1];
  const auto part = CopyTable(*reader_, **file, submissions, {"first > ?", {std::int64_t{2}}});
  ASSERT_TRUE(part.ok()) << part.status();
  EXPECT_EQ(*part, 1U);
  TablePages ours(*reader_, submissions, {"first = 3", {}});
  TablePages theirs(**file, submissions);
  EXPECT_EQ(*ours.Next(), *theirs.Next());
}

TEST_F(JournalArchiveTest, PiecesAreSmall) {
  std::vector<Event> events;
  for (int i = 0; i < 5000; ++i) {
    events.emplace_back(JobHeld{JobId(1), true, At(1)});
  }
  Commit(make_.Of(std::move(events)));
  const auto pieces = FindDroppedEntries(*reader_, Version(5000));
  ASSERT_TRUE(pieces.ok()) << pieces.status();
  std::uint64_t entries = 0;
  for (const Drops& piece : *pieces) {
    std::uint64_t own = 0;
    for (const auto& [from, to] : piece.entries) {
      own += to.value() - from.value() + 1;
    }
    EXPECT_LE(own, 512U);
    entries += own;
  }
  EXPECT_EQ(entries, 4999U) << "all but the newest";
  EXPECT_EQ(pieces->front().journal_begins, Version(5001));
  EXPECT_FALSE(pieces->back().journal_begins.valid());
}

RC_GTEST_PROP(CompressedFile, WhatWasCompressedComesBack, (const std::string& text)) {
  const TempDirectory directory;
  const std::string plain = directory / "plain";
  const std::string packed = directory / "packed";
  const std::string again = directory / "again";
  std::string repeated;
  for (int i = 0; i < 400; ++i) {
    repeated += text;
  }
  RC_ASSERT(WriteFileAtomically(plain, repeated).ok());
  RC_ASSERT(CompressFile(plain, packed).ok());
  RC_ASSERT(DecompressFile(packed, again).ok());
  RC_ASSERT(*ReadFile(again) == repeated);
}

TEST(CompressedFile, ADamagedOneIsRefusedAndLeavesNothing) {
  const TempDirectory directory;
  ASSERT_TRUE(WriteFileAtomically(directory / "plain", std::string(100'000, 'x') + "y").ok());
  ASSERT_TRUE(CompressFile(directory / "plain", directory / "packed").ok());
  std::string bytes = *ReadFile(directory / "packed");
  const std::string cut = bytes.substr(0, bytes.size() / 2);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x40);
  for (const std::string& damaged : {bytes, cut}) {
    ASSERT_TRUE(WriteFileAtomically(directory / "packed", damaged).ok());
    const absl::Status status = DecompressFile(directory / "packed", directory / "again");
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    EXPECT_FALSE(std::filesystem::exists(directory / "again"));
    EXPECT_FALSE(std::filesystem::exists(directory / "again.part"));
  }
}

}  // namespace
}  // namespace muster::daemon

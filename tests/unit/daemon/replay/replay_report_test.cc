#include "daemon/replay/replay_report.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "daemon/leading/await.h"
#include "daemon/store/archive/journal_archive.h"
#include "daemon/store/archive/journal_segment.h"
#include "daemon/store/sqlite/sqlite.h"
#include "tests/unit/daemon/controller/controller_rig.h"

namespace muster::daemon {
namespace {

using testing::ControllerTest;

const auto kNoProgress = [](std::uint64_t, std::uint64_t) {};

class ReplayTest : public ControllerTest {
 protected:
  // Some jobs, one after the other on two cores, through a restart of the controller.
  void Work() {
    NodeId node = Register();
    for (int round = 0; round < 2; ++round) {
      std::vector<JobId> jobs;
      for (int i = 0; i < 4; ++i) {
        jobs.push_back(Submit(absl::StrCat(round, "-", i)));
      }
      for (const JobId job : jobs) {
        door_.AwaitLaunch(job);
        RunEnded end;
        end.time = clock_.Now();
        EXPECT_TRUE(Report(node, job, 1, RunStarted{clock_.Now(), 42, ""}).ok());
        EXPECT_TRUE(Report(node, job, 2, end).ok());
      }
      Close();
      Open();
      node = Register();
    }
  }

  void Execute(const std::string& sql) {
    auto database =
        SqliteDatabase::Open(directory_ + "/state.db", SqliteDatabase::Mode::kReadWrite);
    ASSERT_TRUE(database.ok()) << database.status();
    const absl::Status status = (*database)->Execute(sql);
    ASSERT_TRUE(status.ok()) << status;
  }
};

TEST_F(ReplayTest, EveryDecisionOfALiveControllerIsMadeAgainHashForHash) {
  Work();
  Close();
  const absl::StatusOr<DirectoryReplay> replay = ReplayDirectory(directory_, "", kNoProgress);
  ASSERT_TRUE(replay.ok()) << replay.status();
  EXPECT_TRUE(replay->same()) << PrintReplay(*replay);
  EXPECT_EQ(replay->starts, 8U);
  EXPECT_EQ(replay->starts_unchecked, 0U);
  EXPECT_GE(replay->cycles, 4U);
  EXPECT_TRUE(absl::StrContains(PrintReplay(*replay), "8 starts compared: no difference\n"));
}

TEST_F(ReplayTest, ADirectoryIsReplayedWhileItsControllerWorks) {
  Work();
  Submit("pending");
  const absl::StatusOr<DirectoryReplay> replay = ReplayDirectory(directory_, "", kNoProgress);
  ASSERT_TRUE(replay.ok()) << replay.status();
  EXPECT_TRUE(replay->same()) << PrintReplay(*replay);
}

TEST_F(ReplayTest, APassThatWasRecordedOtherwiseIsADifference) {
  Work();
  Close();
  Execute("UPDATE passes SET hash = hash + 1 WHERE id = 2");
  const absl::StatusOr<DirectoryReplay> replay = ReplayDirectory(directory_, "", kNoProgress);
  ASSERT_TRUE(replay.ok()) << replay.status();
  EXPECT_EQ(replay->differences, 1U) << PrintReplay(*replay);
  EXPECT_TRUE(absl::StrContains(PrintReplay(*replay), ": a cycle made plan "));
}

TEST_F(ReplayTest, ATableThatTheJournalDoesNotLeadToIsADifference) {
  Work();
  Close();
  Execute("UPDATE meta SET value = value + 1 WHERE key = 'epoch'");
  const absl::StatusOr<DirectoryReplay> replay = ReplayDirectory(directory_, "", kNoProgress);
  ASSERT_TRUE(replay.ok()) << replay.status();
  EXPECT_EQ(replay->differences, 1U);
  EXPECT_TRUE(absl::StrContains(PrintReplay(*replay), "the state that the journal leads to"));
}

TEST_F(ReplayTest, AMissingEntryIsNamed) {
  Work();
  Close();
  Execute("PRAGMA foreign_keys = OFF; DELETE FROM journal WHERE version = 5");
  EXPECT_TRUE(absl::StrContains(ReplayDirectory(directory_, "", kNoProgress).status().message(),
                                "journal entry 5: missing"));
}

TEST_F(ReplayTest, AJournalThatBeganAgainIsReplayedFromItsBeginningAndSoIsItsArchive) {
  Work();
  const std::string place = directory_ + "/archive";
  const absl::StatusOr<JournalArchive> archive = JournalArchive::Open(place);
  ASSERT_TRUE(archive.ok()) << archive.status();
  auto reader = store_->OpenReader();
  ASSERT_TRUE(reader.ok()) << reader.status();
  const JobId lives_on = Submit("waits");
  const absl::StatusOr<JournalBeginning> beginning = archive->Take(**reader, clock_.Now());
  ASSERT_TRUE(beginning.ok()) << beginning.status();
  controller_->PlanAfresh();
  const NodeId node = Register();
  door_.AwaitLaunch(lives_on);
  for (int i = 0; i < 3; ++i) {
    const JobId job = Submit(absl::StrCat("later-", i));
    door_.AwaitLaunch(job);
    EXPECT_TRUE(Report(node, job, 1, RunStarted{clock_.Now(), 42, ""}).ok());
    RunEnded end;
    end.time = clock_.Now();
    EXPECT_TRUE(Report(node, job, 2, end).ok());
  }
  ASSERT_TRUE(archive->Write(**reader, Version(1), beginning->version, Scripts::kErased).ok());
  absl::StatusOr<std::vector<Drops>> drops = FindDroppedEntries(**reader, beginning->version);
  ASSERT_TRUE(drops.ok()) << drops.status();
  for (Drops& piece : *drops) {
    const absl::Status dropped = Await([&](Controller::Reply reply) {
      controller_->Keep([&](Batch& batch, Time) { batch.drops.push_back(piece); }, reply);
    });
    ASSERT_TRUE(dropped.ok()) << dropped;
  }
  Close();
  const absl::StatusOr<DirectoryReplay> rest = ReplayDirectory(directory_, "", kNoProgress);
  ASSERT_TRUE(rest.ok()) << rest.status();
  EXPECT_TRUE(rest->same()) << PrintReplay(*rest);
  EXPECT_EQ(rest->begins, beginning->version.value() + 1);
  EXPECT_GE(rest->cycles, 3U);
  EXPECT_GE(rest->starts, 3U);
  const std::vector<JournalSegment> segments = archive->Segments();
  ASSERT_EQ(segments.size(), 1U);
  const absl::StatusOr<DirectoryReplay> old = ReplayDirectory(segments[0].path, "", kNoProgress);
  ASSERT_TRUE(old.ok()) << old.status();
  EXPECT_TRUE(old->same()) << PrintReplay(*old);
  EXPECT_EQ(old->entries, beginning->version.value());
  EXPECT_GE(old->starts, 8U);
  EXPECT_TRUE(
      absl::StrContains(ReplayDirectory(directory_, "/nowhere", kNoProgress).status().message(),
                        "name the store's archive with --archive DIR"));
}

TEST_F(ReplayTest, ADirectoryWithoutAControllersStateIsRefused) {
  EXPECT_TRUE(absl::StrContains(ReplayDirectory("/tmp", "", kNoProgress).status().message(),
                                "/tmp: no state.db there; name the state directory"));
}

}  // namespace
}  // namespace muster::daemon

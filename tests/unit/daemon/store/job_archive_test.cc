#include "daemon/store/archive/job_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "daemon/store/accounting.h"
#include "daemon/store/archive/archive_files.h"
#include "daemon/store/archive/ended_jobs.h"
#include "daemon/store/archive/journal_archive.h"
#include "daemon/store/archive/journal_reader.h"
#include "daemon/store/database/schema.h"
#include "daemon/store/database/table_rows.h"
#include "daemon/store/rows/row_eraser.h"
#include "daemon/store/rows/row_loader.h"
#include "tests/unit/daemon/store/store_rig.h"

namespace muster::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class JobArchiveTest : public StoreTest {
 protected:
  void SetUp() override {
    Open();
    auto reader = store_->OpenReader();
    ASSERT_TRUE(reader.ok()) << reader.status();
    reader_ = *std::move(reader);
    directory_of_archive_ = directory_ / "archive";
    std::filesystem::create_directory(directory_of_archive_);
  }
  void End(std::uint64_t job, std::uint64_t submission, std::int64_t when) {
    Batch batch = make_.Of({JobEnded{JobId(job), JobState::kCompleted, {}, "", At(when)}});
    batch.ended = {Ended(job, submission, "ann", "COMPLETED", when)};
    batch.attempts = {AttemptOf(job, 1)};
    batch.notes = {{JobId(job), JobNote{"Comment", "was good", "ann", At(when)}}};
    Commit(batch);
  }
  // An array of `count` elements that has ended.
  void EndArray(std::uint32_t count) {
    Commit(make_.Of({SubmittedArray(1, {{1, count, 1}}, count)}));
    for (std::uint64_t job = 1; job <= count; ++job) {
      End(job, 1, 1000 + static_cast<std::int64_t>(job));
    }
  }
  static std::vector<Drops> PiecesOf(std::uint64_t first, std::uint64_t last) {
    Drops piece;
    for (std::uint64_t job = first; job <= last; ++job) {
      piece.jobs.emplace_back(job);
    }
    piece.submissions = {JobId(1)};
    return {piece};
  }
  // Writes them to the archive and takes them out of the store; the file's name.
  std::string Leave(const std::vector<Drops>& pieces) {
    const auto path = WriteJobs(*reader_, directory_of_archive_, pieces);
    EXPECT_TRUE(path.ok()) << path.status();
    Batch batch;
    batch.drops = pieces;
    Commit(batch);
    return path.ok() ? std::filesystem::path(*path).filename().string() : "";
  }
  std::unique_ptr<ArchivedJobs> OpenFile(const std::string& name, JobId after = JobId(0)) {
    auto file = ArchivedJobs::Open(directory_of_archive_, name, after);
    EXPECT_TRUE(file.ok()) << file.status();
    return file.ok() ? *std::move(file) : nullptr;
  }
  void Load(ArchivedJobs& file) {
    while (true) {
      auto piece = file.Next(*reader_, At(99000));
      ASSERT_TRUE(piece.ok()) << piece.status();
      if (!piece->has_value()) {
        return;
      }
      Batch batch;
      batch.loads.push_back(**std::move(piece));
      Commit(batch);
    }
  }
  // Every row of jobs, as the store has it.
  std::vector<TableRow> Rows() {
    std::vector<TableRow> rows;
    for (const char* name :
         {"submissions", "programs", "history", "attempts", "steps", "job_notes"}) {
      TablePages pages(*reader_, TableNamed(name));
      for (auto page = pages.Next(); page.ok() && !page->empty(); page = pages.Next()) {
        rows.insert(rows.end(), page->begin(), page->end());
      }
    }
    return rows;
  }
  std::unique_ptr<Database> reader_;
  std::string directory_of_archive_;
};

TEST_F(JobArchiveTest, JobsComeBackAsTheyWere) {
  EndArray(300);
  const std::vector<TableRow> before = Rows();
  const std::string name = Leave(PiecesOf(1, 300));
  EXPECT_EQ(name, "jobs-1001-1300-300.db.zst");
  EXPECT_THAT(Rows(), IsEmpty());
  const auto file = OpenFile(name);
  ASSERT_NE(file, nullptr);
  Load(*file);
  EXPECT_EQ(file->missing(), 300U);
  EXPECT_EQ(file->present(), 0U);
  EXPECT_EQ(Rows(), before);
  EXPECT_EQ(Count("SELECT until FROM loaded WHERE submission = 1"), 99000);
  auto accounting = Accounting::Open(*store_);
  ASSERT_TRUE(accounting.ok()) << accounting.status();
  const auto shown = (*accounting)->Show(JobId(1), {});
  ASSERT_TRUE(shown.ok()) << shown.status();
  EXPECT_THAT(*shown, SizeIs(300));
}

TEST_F(JobArchiveTest, LoadingAddsWhatIsMissingAndChangesNothingElse) {
  EndArray(4);
  const std::vector<TableRow> before = Rows();
  const auto path = WriteJobs(*reader_, directory_of_archive_, PiecesOf(1, 4));
  ASSERT_TRUE(path.ok()) << path.status();
  Batch cut_off;
  cut_off.drops = PiecesOf(1, 2);
  cut_off.drops[0].submissions.clear();
  Commit(cut_off);
  const std::string name = std::filesystem::path(*path).filename().string();
  const auto file = OpenFile(name);
  ASSERT_NE(file, nullptr);
  Load(*file);
  EXPECT_EQ(file->missing(), 2U);
  EXPECT_EQ(file->present(), 2U);
  EXPECT_EQ(Rows(), before);
  const auto again = OpenFile(name);
  ASSERT_NE(again, nullptr);
  Load(*again);
  EXPECT_EQ(again->missing(), 0U);
  EXPECT_EQ(again->present(), 4U);
  EXPECT_EQ(Rows(), before);
}

TEST_F(JobArchiveTest, LoadingGoesOnAfterAJob) {
  EndArray(300);
  const auto file = OpenFile(Leave(PiecesOf(1, 300)), JobId(250));
  ASSERT_NE(file, nullptr);
  Load(*file);
  EXPECT_EQ(file->missing(), 50U);
  EXPECT_EQ(Count("SELECT min(id) FROM history"), 251);
}

TEST_F(JobArchiveTest, NothingIsLeftOfWhatWasUnpacked) {
  EndArray(2);
  const std::string name = Leave(PiecesOf(1, 2));
  OpenFile(name).reset();
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory_of_archive_)) {
    names.push_back(entry.path().filename().string());
  }
  EXPECT_THAT(names, ElementsAre(name));
}

TEST_F(JobArchiveTest, WhatIsNoFileOfJobsIsRefused) {
  for (const char* name : {"", "jobs", "../jobs-1-2-3.db.zst", "journal-1-2.db.zst",
                           "jobs-1-2.db.zst", "jobs-1-2-x.db.zst", "jobs-1-2-3.db.zst/../a"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ArchivedJobs::Open(directory_of_archive_, name).status()))
        << name;
  }
  const absl::Status missing =
      ArchivedJobs::Open(directory_of_archive_, "jobs-1-2-3.db.zst").status();
  EXPECT_TRUE(absl::IsNotFound(missing)) << missing;
  EXPECT_THAT(std::string(missing.message()), HasSubstr("muster archive list"));
  std::ofstream(directory_of_archive_ + "/jobs-1-2-3.db.zst") << "no such file";
  const absl::Status damaged =
      ArchivedJobs::Open(directory_of_archive_, "jobs-1-2-3.db.zst").status();
  EXPECT_TRUE(absl::IsDataLoss(damaged)) << damaged;
}

TEST_F(JobArchiveTest, ReplayReadsNoJobs) {
  EXPECT_FALSE(JournalArchive::IsSegment("/a/jobs-1-2-3.db.zst"));
  EXPECT_TRUE(JournalArchive::IsSegment("/a/journal-1-2.db.zst"));
  const absl::Status refused = JournalReader::Open("/a/jobs-1-2-3.db.zst", "").status();
  EXPECT_THAT(std::string(refused.message()), HasSubstr("ended jobs, no journal"));
}

TEST(ArchiveFilesTest, ANameSaysWhatItsFileHolds) {
  EXPECT_EQ(NameOf(kSegmentName, {1, 20}), "journal-1-20.db.zst");
  EXPECT_THAT(NumbersIn("journal-1-20.db.zst", kSegmentName), ElementsAre(1, 20));
  for (const char* other : {"journal-1.db.zst", "journal-1-2-3.db.zst", "journal-1-2.db",
                            "journal--2.db.zst", "journal-1-2x.db.zst", "journal-.db.zst"}) {
    EXPECT_THAT(NumbersIn(other, kSegmentName), IsEmpty()) << other;
  }
}

}  // namespace
}  // namespace muster::daemon

#include "cli/checkpoint/checkpoint_room.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "cli/checkpoint/kept_generations.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;
using checkpoint::Disk;
using checkpoint::GenerationState;
using checkpoint::Manifest;
using checkpoint::Store;

constexpr std::uint64_t kState = 1000;

// Directories of jobs with real generations, all of one size, written in the order of the calls.
class CheckpointRoomTest : public ::testing::Test {
 protected:
  // Job `job` keeps that many; the directory is its own unless it has a name.
  std::string Keep(std::uint64_t job, int count, const std::string& name = "") {
    const std::string directory =
        directories_ / (name.empty() ? "muster-" + std::to_string(job) + ".checkpoint" : name);
    fs::create_directories(directory);
    Store store = std::move(Store::Open(Disk::Real(), directory).value);
    EXPECT_FALSE(store.LockForWriting().failed());
    const std::string state(kState, 'x');
    for (int i = 0; i < count; ++i) {
      Manifest manifest;
      manifest.job = "job";
      manifest.generation = store.Next().value;
      manifest.written_ms = ++now_ms_;
      EXPECT_FALSE(store.BeginAs(manifest.generation).failed());
      manifest.shards = {store
                             .Write({manifest.job, manifest.generation, 0, 1},
                                    {{"state", state.data(), state.size()}})
                             .value};
      size_ = manifest.shards.front().bytes;
      EXPECT_FALSE(store.Commit(manifest).failed());
    }
    LedgerEntry& entry = ledger_->Of(directory);
    entry.cluster = "blue";
    entry.job = job;
    entry.bytes = size_ * static_cast<std::uint64_t>(count);
    entry.count = static_cast<std::uint64_t>(count);
    return directory;
  }
  static std::size_t In(const std::string& directory) {
    return CompleteIn(Store::Open(Disk::Real(), directory).value)->size();
  }
  // What one more of job 9 is answered, where that number of checkpoints is allowed.
  std::string Ask(std::uint64_t allowed, KeptSum beside = {}) {
    const std::string own = directories_ / "muster-9.checkpoint";
    return MakeRoom(
        {own, size_, beside, "blue", 9}, {.bytes = Bytes(allowed * size_), .count = 0},
        [this](const std::set<std::uint64_t>& jobs)
            -> absl::StatusOr<std::map<std::uint64_t, JobFate>> {
          asked_.insert(jobs.begin(), jobs.end());
          if (silent_) {
            return absl::UnavailableError("no controller");
          }
          return fates_;
        },
        5, *ledger_);
  }

  const TempDirectory directories_;
  absl::StatusOr<Ledger> ledger_ = Ledger::Hold(directories_ / "ledger");
  std::map<std::uint64_t, JobFate> fates_;
  std::set<std::uint64_t> asked_;
  bool silent_ = false;
  std::uint64_t size_ = 0;
  std::uint64_t now_ms_ = 1000;
};

TEST_F(CheckpointRoomTest, WhereThereIsRoomNothingGoesAndNobodyIsAsked) {
  const std::string kept = Keep(1, 3);
  EXPECT_EQ(Ask(4), "yes");
  EXPECT_EQ(In(kept), 3U);
  EXPECT_TRUE(asked_.empty());
  EXPECT_EQ(ledger_->Of(directories_ / "muster-9.checkpoint").bytes, size_);
}

TEST_F(CheckpointRoomTest, OlderOnesOfEndedJobsGoFirstTheOldestBeforeAll) {
  const std::string failed = Keep(1, 2);
  const std::string completed = Keep(2, 2);
  fates_ = {{1, JobFate::kEnded}, {2, JobFate::kCompleted}};
  EXPECT_EQ(Ask(4), "yes");
  EXPECT_EQ(In(failed), 1U);
  EXPECT_EQ(In(completed), 2U);
}

TEST_F(CheckpointRoomTest, TheNewestOfAJobThatCompletedGoesOnlyWhenNoOlderOneIsLeft) {
  const std::string failed = Keep(1, 2);
  const std::string completed = Keep(2, 2);
  fates_ = {{1, JobFate::kEnded}, {2, JobFate::kCompleted}};
  EXPECT_EQ(Ask(2), "yes");
  EXPECT_EQ(In(failed), 1U);
  EXPECT_EQ(In(completed), 0U);
}

TEST_F(CheckpointRoomTest, WhatARestartNeedsStaysAndTheNewOneIsRefused) {
  const std::string running = Keep(1, 2);
  const std::string failed = Keep(2, 1);
  const std::string shared = Keep(3, 1, "state");  // others may go on from it
  fates_ = {{1, JobFate::kMayGoOn}, {2, JobFate::kEnded}, {3, JobFate::kCompleted}};
  EXPECT_THAT(Ask(4), ::testing::StartsWith("no over quota: "));
  EXPECT_EQ(In(running), 2U);
  EXPECT_EQ(In(failed), 1U);
  EXPECT_EQ(In(shared), 1U);
  EXPECT_FALSE(ledger_->Of(directories_ / "muster-9.checkpoint").refused.empty());
  EXPECT_EQ(Ask(5), "yes");
  EXPECT_TRUE(ledger_->Of(directories_ / "muster-9.checkpoint").refused.empty());
}

TEST_F(CheckpointRoomTest, OneThatFitsWithoutThoseBesideItReplacesThem) {
  Keep(1, 1);
  fates_ = {{1, JobFate::kMayGoOn}};
  EXPECT_EQ(Ask(2, {size_, 1}), "alone");
  EXPECT_EQ(ledger_->Of(directories_ / "muster-9.checkpoint").count, 1U);
}

TEST_F(CheckpointRoomTest, WithoutWordOfTheJobsNothingGoes) {
  const std::string kept = Keep(1, 3);
  silent_ = true;
  EXPECT_THAT(Ask(3), ::testing::HasSubstr("no word of jobs"));
  EXPECT_EQ(In(kept), 3U);
}

TEST_F(CheckpointRoomTest, DirectoriesThatAreGoneTakeNoRoom) {
  fs::remove_all(Keep(1, 3));
  EXPECT_EQ(Ask(1), "yes");
  EXPECT_EQ(ledger_->page().entries.size(), 1U);
}

TEST_F(CheckpointRoomTest, ImagesOfCriuAreCountedAndStay) {
  Keep(1, 1);
  const std::string images = directories_ / "muster-3.checkpoint/criu-3";
  for (const char* generation : {"4", "5", "6.failed", ".7"}) {
    fs::create_directories(images + "/" + generation);
    std::ofstream(images + "/" + generation + "/pages-1.img") << std::string(size_, 'x');
  }
  LedgerEntry& entry = ledger_->Of(images);
  entry.cluster = "blue";
  entry.job = 3;
  entry.count = 1;
  fates_ = {{1, JobFate::kMayGoOn}, {3, JobFate::kEnded}};
  CountAgain("", ledger_->page());
  EXPECT_EQ(ledger_->Of(images).count, 2U);
  EXPECT_EQ(ledger_->Of(images).bytes, 2 * size_);
  EXPECT_EQ(Ask(4), "yes");
  ledger_ = Ledger::Hold(directories_ / "another");
  LedgerEntry& again = ledger_->Of(images);
  again.cluster = "blue";
  again.job = 3;
  again.bytes = 2 * size_;
  EXPECT_THAT(Ask(2), ::testing::HasSubstr("over quota"));
  EXPECT_TRUE(fs::exists(images + "/4/pages-1.img"));
  fs::remove_all(images);
  EXPECT_EQ(Ask(2), "yes");
}

TEST_F(CheckpointRoomTest, AQuotaOfCheckpointsCountsThem) {
  Keep(1, 2);
  fates_ = {{1, JobFate::kMayGoOn}};
  const auto ask = [this](std::uint32_t count) {
    return MakeRoom(
        {directories_ / "own", 1, {}, "blue", 9}, {.bytes = Bytes(0), .count = count},
        [this](const auto&) { return fates_; }, 5, *ledger_);
  };
  EXPECT_EQ(ask(2), "no over quota: 1 more, 2 kept, 2 allowed");
  EXPECT_EQ(ask(3), "yes");
}

}  // namespace
}  // namespace muster::cli

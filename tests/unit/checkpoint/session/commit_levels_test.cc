#include "checkpoint/session/commit_levels.h"

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/unit/checkpoint/store_files.h"

namespace muster::checkpoint {
namespace {

constexpr const char* kNoHelper = "/bin/true";  // starts, and does nothing

// One rank with two levels, which no helper copies.
class CommitLevelsTest : public StoreFiles {
 protected:
  void SetUp() override {
    StoreFiles::SetUp();
    options_.directory = (directory_ / "shared").string();
    options_.job = "job7";
    options_.local_directory = (directory_ / "local").string();
    fs::create_directory(options_.directory);
    fs::create_directory(options_.local_directory);
  }
  CommitLevels Shared() {
    return {options_, std::move(Store::Open(Disk::Real(), options_.directory).value), std::nullopt};
  }
  CommitLevels Both() {
    LocalOptions where;
    where.parent = options_.local_directory;
    where.shared = options_.directory;
    where.job = options_.job;
    where.program = kNoHelper;
    Result<LocalLevel> local = LocalLevel::Open(where, Disk::Real());
    EXPECT_TRUE(local.ok()) << local.error.text;
    return {options_, std::move(Store::Open(Disk::Real(), options_.directory).value),
            std::move(local.value)};
  }
  // The number of a generation that `levels` completed and verified.
  std::uint64_t Commit(CommitLevels* levels) {
    EXPECT_FALSE(levels->Lock().failed());
    const Result<std::uint64_t> number = levels->Next();
    EXPECT_FALSE(levels->BeginAs(number.value).failed());
    const Result<ShardSeal> seal = levels->Write(number.value, {{"step", &step_, sizeof step_}});
    EXPECT_TRUE(seal.ok()) << seal.error.text;
    EXPECT_EQ(levels->Complete(levels->ManifestOf(number.value, {seal.value})).text, "");
    EXPECT_EQ(levels->VerifyOwn(number.value, seal.value).text, "");
    return number.value;
  }
  static std::vector<GenerationName> Complete(Store& store) {
    std::vector<GenerationName> names = store.List().value;
    std::erase_if(
        names, [](const GenerationName& name) { return name.state != GenerationState::kComplete; });
    return names;
  }
  SessionOptions options_;
  int step_ = 7;
};

TEST_F(CommitLevelsTest, WithoutALocalLevelCommitsAreInTheSharedDirectory) {
  CommitLevels levels = Shared();
  EXPECT_EQ(levels.local(), nullptr);
  EXPECT_EQ(Commit(&levels), 1U);
  EXPECT_EQ(Complete(levels.shared()).size(), 1U);
  EXPECT_TRUE(levels.HoldsAllShards(StoreLevel::kShared));
}

TEST_F(CommitLevelsTest, WithALocalLevelTheyAreThereAndNumbersGoOnAfterBoth) {
  {
    CommitLevels shared = Shared();
    EXPECT_EQ(Commit(&shared), 1U);
  }
  CommitLevels both = Both();
  EXPECT_EQ(Commit(&both), 2U);
  EXPECT_EQ(Complete(both.shared()).size(), 1U);
  EXPECT_EQ(Complete(both.At(StoreLevel::kLocal)).front().number, 2U);
}

TEST_F(CommitLevelsTest, OfSeveralRanksEachHasItsOwnShardLocally) {
  options_.ranks = 4;
  const CommitLevels levels = Both();
  EXPECT_TRUE(levels.HoldsAllShards(StoreLevel::kShared));
  EXPECT_FALSE(levels.HoldsAllShards(StoreLevel::kLocal));
}

TEST_F(CommitLevelsTest, ACommitThatIsNotCopiedCountsUntilOneIs) {
  CommitLevels levels = Both();
  EXPECT_EQ(levels.since_copy(), 1U);
  EXPECT_FALSE(levels.Copy(Commit(&levels), false).failed());
  EXPECT_EQ(levels.since_copy(), 2U);
  EXPECT_FALSE(levels.Copy(Commit(&levels), true).failed());
  EXPECT_EQ(levels.since_copy(), 1U);
}

TEST_F(CommitLevelsTest, TakingBackRemovesEvenACompleteOne) {
  CommitLevels levels = Both();
  const std::uint64_t generation = Commit(&levels);
  levels.TakeBack(generation);
  EXPECT_TRUE(Complete(levels.At(StoreLevel::kLocal)).empty());
}

TEST_F(CommitLevelsTest, OnlyRankZeroRemovesWhatIsOlder) {
  options_.keep = 1;
  CommitLevels levels = Shared();
  Commit(&levels);
  const std::uint64_t newest = Commit(&levels);
  EXPECT_EQ(levels.RetireVerified(newest).text, "");
  EXPECT_EQ(Complete(levels.shared()).size(), 1U);
  options_.rank = 1;
  options_.ranks = 2;
  EXPECT_EQ(levels.RetireVerified(newest).text, "retire: is rank 0's");
}

TEST_F(CommitLevelsTest, AManifestSaysWhoWroteIt) {
  options_.attempt = 3;
  options_.software = "v1";
  const CommitLevels levels = Shared();
  const Manifest manifest = levels.ManifestOf(12, {{0, 10, 20}});
  EXPECT_EQ(manifest.job, "job7");
  EXPECT_EQ(manifest.attempt, 3U);
  EXPECT_EQ(manifest.generation, 12U);
  EXPECT_EQ(manifest.software, "v1");
  EXPECT_EQ(manifest.shards.size(), 1U);
  EXPECT_GT(manifest.written_ms, 0U);
}

}  // namespace
}  // namespace muster::checkpoint

// What is chosen for a restart, and what is refused.

#include "checkpoint/store/store.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/unit/checkpoint/store_files.h"

namespace muster::checkpoint {
namespace {

using ::testing::HasSubstr;

class StoreTest : public StoreFiles {
 protected:
  void SetUp() override {
    StoreFiles::SetUp();
    ASSERT_FALSE(WriteGenerationHere("old", 5).failed());
    ASSERT_FALSE(WriteGenerationHere("new", 5).failed());
  }
  // The old one is chosen, and the new one passed over for a reason that has `why` in it.
  void ExpectOldBecause(const std::string& why) {
    EXPECT_EQ(Chosen(), Of("old"));
    ASSERT_EQ(passed_.size(), 1U);
    EXPECT_THAT(passed_.front(), HasSubstr(why));
  }
  fs::path NewShard(int rank) const {
    return Generation(2) / ("shard-00000" + std::to_string(rank));
  }
};

TEST_F(StoreTest, TheNewestIsChosenAndLatestNamesIt) {
  EXPECT_EQ(Chosen(), Of("new"));
  EXPECT_TRUE(passed_.empty());
  EXPECT_EQ(Slurp(directory_ / "latest"), "gen-0000000002\n");
}

TEST_F(StoreTest, EveryFlippedBitOfEveryFileIsDetected) {
  for (const auto& entry : fs::directory_iterator(Generation(2))) {
    const std::string bytes = Slurp(entry.path());
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      std::string flipped = bytes;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      Spill(entry.path(), flipped);
      ASSERT_EQ(Chosen(), Of("old")) << entry.path() << " bit " << bit;
    }
    Spill(entry.path(), bytes);
  }
  EXPECT_EQ(Chosen(), Of("new"));
}

TEST_F(StoreTest, EveryTruncationOfEveryFileIsDetected) {
  for (const auto& entry : fs::directory_iterator(Generation(2))) {
    const std::string bytes = Slurp(entry.path());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      Spill(entry.path(), bytes.substr(0, size));
      ASSERT_EQ(Chosen(), Of("old")) << entry.path() << " at " << size;
    }
    Spill(entry.path(), bytes + "x");
    ASSERT_EQ(Chosen(), Of("old"));
    Spill(entry.path(), bytes);
  }
}

TEST_F(StoreTest, AMissingShardIsDetected) {
  fs::remove(NewShard(1));
  ExpectOldBecause("gen-0000000002: shard-000001: is missing");
}

TEST_F(StoreTest, AMissingManifestIsDetected) {
  fs::remove(Generation(2) / "manifest");
  ExpectOldBecause("manifest: is missing");
}

TEST_F(StoreTest, AShardOfAnotherGenerationIsDetected) {
  fs::copy_file(Generation(1) / "shard-000001", NewShard(1), fs::copy_options::overwrite_existing);
  ExpectOldBecause("shard-000001: is rank 1 of 3 of generation 1 of job \"job7\"");
}

TEST_F(StoreTest, AShardOfAnotherRankIsDetected) {
  fs::copy_file(NewShard(0), NewShard(1), fs::copy_options::overwrite_existing);
  ExpectOldBecause("shard-000001: is rank 0 of 3");
}

TEST_F(StoreTest, AnotherJobsShardIsDetected) {
  const fs::path other = directory_ / "other";
  fs::create_directory(other);
  Result<Store> store = Store::Open(Disk::Real(), other.string());
  ASSERT_FALSE(WriteGeneration(&store.value, "new", 5, "job8").failed());
  ASSERT_FALSE(WriteGeneration(&store.value, "new", 5, "job8").failed());
  fs::copy_file(other / "gen-0000000002" / "shard-000001", NewShard(1),
                fs::copy_options::overwrite_existing);
  ExpectOldBecause("of job \"job8\"");
}

TEST_F(StoreTest, AnotherJobsGenerationIsNotChosen) {
  EXPECT_THAT(Chosen("job"), HasSubstr("gen-0000000002: is of job \"job7\""));
}

TEST_F(StoreTest, AManifestOfAnotherGenerationIsDetected) {
  fs::copy_file(Generation(1) / "manifest", Generation(2) / "manifest",
                fs::copy_options::overwrite_existing);
  ExpectOldBecause("manifest: is that of generation 1");
}

TEST_F(StoreTest, ALinkInPlaceOfAShardIsRefused) {
  const fs::path elsewhere = directory_ / "elsewhere";
  fs::rename(NewShard(1), elsewhere);
  fs::create_symlink(elsewhere, NewShard(1));
  ExpectOldBecause("shard-000001: is a link");
  fs::remove(NewShard(1));
  fs::create_hard_link(elsewhere, NewShard(1));
  ExpectOldBecause("shard-000001: has another name elsewhere");
}

TEST_F(StoreTest, ALinkInPlaceOfAGenerationIsRefused) {
  fs::rename(Generation(2), directory_ / "elsewhere");
  fs::create_directory_symlink(directory_ / "elsewhere", Generation(2));
  EXPECT_EQ(Chosen(), Of("old"));
  ASSERT_EQ(passed_.size(), 1U);
}

TEST_F(StoreTest, AFifoADirectoryAndSpecialBitsAreRefusedWithoutWaiting) {
  const fs::path shard = NewShard(1);
  const std::string bytes = Slurp(shard);
  fs::remove(shard);
  ASSERT_EQ(mkfifo(shard.c_str(), 0600), 0);
  ExpectOldBecause("shard-000001: is no plain file");
  fs::remove(shard);
  fs::create_directory(shard);
  ExpectOldBecause("shard-000001: is no plain file");
  fs::remove(shard);
  Spill(shard, bytes);
  ASSERT_EQ(chmod(shard.c_str(), 04600), 0);
  ExpectOldBecause("set-user-id");
}

TEST_F(StoreTest, ASparseFileOfManyExbibytesIsRefusedAtOnce) {
  ASSERT_EQ(truncate(NewShard(1).c_str(), off_t{1} << 42), 0);
  ExpectOldBecause("has 4398046511104 bytes and not");
  ASSERT_EQ(truncate((Generation(2) / "manifest").c_str(), off_t{1} << 42), 0);
  ExpectOldBecause("manifest: is too large");
}

TEST_F(StoreTest, SomethingElseInAGenerationIsRefused) {
  Spill(Generation(2) / "shard-000003", "x");
  ExpectOldBecause("holds something that is not the checkpoint's");
  fs::remove(Generation(2) / "shard-000003");
  fs::create_symlink("/etc/passwd", Generation(2) / "notes");
  ExpectOldBecause("holds something that is not the checkpoint's");
}

TEST_F(StoreTest, AnotherUsersGenerationIsRefused) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can give a file away";
  }
  ASSERT_EQ(chown(NewShard(1).c_str(), 12345, 12345), 0);
  ExpectOldBecause("shard-000001: belongs to another user");
  ASSERT_EQ(chown(Generation(2).c_str(), 12345, 12345), 0);
  ExpectOldBecause("gen-0000000002: belongs to another user");
  ASSERT_EQ(chown(directory_.c_str(), 12345, 12345), 0);
  EXPECT_EQ(Store::Open(Disk::Real(), directory_.string()).error.fault, Fault::kForeign);
}

TEST_F(StoreTest, WhatLooksLikeAGenerationAndIsNoneIsLeftAlone) {
  for (const char* name : {"gen-2", "gen-00000000003", "gen-0000000003 ", "gen-000000000x", "gen-",
                           "gen-0000000003.tmp2", "GEN-0000000003", "checkpoint.pt"}) {
    fs::create_directory(directory_ / name);
  }
  EXPECT_EQ(Chosen(), Of("new"));
  ASSERT_FALSE(WriteGenerationHere("next", 1).failed());
  for (const char* name : {"gen-2", "gen-00000000003", "gen-0000000003.tmp2", "checkpoint.pt"}) {
    EXPECT_TRUE(fs::exists(directory_ / name)) << name;
  }
}

TEST_F(StoreTest, RetiringKeepsTheNewestAndRemovesTheRest) {
  for (int i = 0; i < 4; ++i) {
    ASSERT_FALSE(WriteGenerationHere("more", 5).failed());
  }
  EXPECT_FALSE(fs::exists(Generation(1)));
  EXPECT_TRUE(fs::exists(Generation(2)));
  ASSERT_FALSE(WriteGenerationHere("more", 2).failed());
  EXPECT_FALSE(fs::exists(Generation(5)));
  EXPECT_TRUE(fs::exists(Generation(6)));
  EXPECT_TRUE(fs::exists(Generation(7)));
}

TEST_F(StoreTest, ARemovalNeverFollowsALinkNorGoesIntoADirectory) {
  const fs::path treasure = directory_ / "treasure";
  fs::create_directory(treasure);
  Spill(treasure / "gold", "gold");
  fs::create_directory_symlink(treasure, Generation(1) / "link");
  fs::create_directories(Generation(1) / "room" / "deep");
  Result<Store> store = Store::Open(Disk::Real(), directory_.string());
  EXPECT_EQ(store.value.Remove({1, GenerationState::kComplete}).fault, Fault::kSystem);
  EXPECT_EQ(Slurp(treasure / "gold"), "gold");
  EXPECT_EQ(Chosen(), Of("new"));
}

TEST_F(StoreTest, AGenerationThatFailedToRestartOnceIsSetAsideAndTheOneBeforeIsTried) {
  Result<Store> store = Store::Open(Disk::Real(), directory_.string());
  ASSERT_FALSE(store.value.restarts().Note(2).failed());
  const auto failed = store.value.restarts().SetAsideFailed();
  ASSERT_TRUE(failed.ok());
  EXPECT_EQ(failed.value, 2U);
  EXPECT_EQ(Chosen(), Of("old"));
  EXPECT_TRUE(fs::exists(directory_ / "gen-0000000002.bad"));
  // Once is once.
  EXPECT_FALSE(store.value.restarts().SetAsideFailed().value.has_value());
  // When the one before fails, too, what was set aside is better than nothing.
  ASSERT_FALSE(store.value.restarts().Note(1).failed());
  EXPECT_EQ(store.value.restarts().SetAsideFailed().value, 1U);
  EXPECT_EQ(Chosen(), Of("new"));
  // Numbers are not given out twice.
  ASSERT_FALSE(WriteGenerationHere("next", 5).failed());
  EXPECT_TRUE(fs::exists(Generation(3)));
}

TEST_F(StoreTest, AConfirmedRestartSetsNothingAside) {
  Result<Store> store = Store::Open(Disk::Real(), directory_.string());
  ASSERT_FALSE(store.value.restarts().Note(2).failed());
  ASSERT_FALSE(store.value.restarts().Confirm().failed());
  EXPECT_FALSE(store.value.restarts().SetAsideFailed().value.has_value());
  EXPECT_EQ(Chosen(), Of("new"));
}

TEST_F(StoreTest, AForgedNoteSetsNothingElseAside) {
  Spill(directory_ / "restarting", "../../etc/passwd\n");
  Result<Store> store = Store::Open(Disk::Real(), directory_.string());
  EXPECT_FALSE(store.value.restarts().SetAsideFailed().value.has_value());
  EXPECT_EQ(Chosen(), Of("new"));
}

TEST_F(StoreTest, WhatSeemsWholeIsLookedAtButForItsBytes) {
  Result<Store> store = Store::Open(Disk::Real(), directory_.string());
  EXPECT_EQ(NewestThatSeemsWhole(store.value), 2U);
  fs::remove(NewShard(1));
  EXPECT_EQ(NewestThatSeemsWhole(store.value), 1U);
  Spill(Generation(1) / "shard-000000", "short");
  EXPECT_EQ(NewestThatSeemsWhole(store.value), 0U);
}

TEST_F(StoreTest, AnEmptyDirectoryHasNothingToRestartFrom) {
  fs::create_directory(directory_ / "empty");
  const Result<Store> store = Store::Open(Disk::Real(), (directory_ / "empty").string());
  EXPECT_EQ(store.value.ChooseForRestart("job7", &passed_).error.fault, Fault::kNotFound);
  const Result<Store> missing = Store::Open(Disk::Real(), (directory_ / "missing").string());
  EXPECT_EQ(missing.error.fault, Fault::kSystem);
  EXPECT_THAT(missing.error.text, HasSubstr("missing: No such file or directory"));
}

}  // namespace
}  // namespace muster::checkpoint

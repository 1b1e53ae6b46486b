#include "cli/checkpoint/object_level.h"

#include <gmock/gmock.h>

#include "tests/unit/checkpoint/store_files.h"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;
using checkpoint::Disk;
using checkpoint::GenerationState;
using checkpoint::Store;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ObjectListTest, OnlyWhatHasItsMarkIsWhole) {
  EXPECT_THAT(ReadObjectList("gen-0000000003/\ngen-0000000012.whole\ngen-0000000012/\nlatest\n"
                             "gen-0000000013.tmp/\n"),
              ElementsAre(ObjectGeneration{12, true}, ObjectGeneration{3, false}));
  EXPECT_TRUE(ReadObjectList("").empty());
}

// A store in `directory_`/here, and rclone's remote of a directory beside it.
class ObjectLevelTest : public checkpoint::StoreFiles {
 protected:
  void SetUp() override {
    StoreFiles::SetUp();
    if (system("rclone version >/dev/null 2>&1") != 0) {
      GTEST_SKIP() << "rclone is not installed: object stores are not tested";
    }
    fs::create_directory(directory_ / "here");
    fs::create_directory(directory_ / "bin");
    store_ = std::move(Store::Open(Disk::Real(), (directory_ / "here").string()).value);
  }
  // An rclone that is cut off while it copies the file that a test names.
  void CutOffAt(const std::string& file) {
    Spill(directory_ / "bin" / "rclone",
          "#!/bin/sh\ncase \"$*\" in 'copy '*) /usr/bin/rclone --exclude " + file +
              " \"$@\"; kill -9 $$;; esac\nexec /usr/bin/rclone \"$@\"\n");
    fs::permissions(directory_ / "bin" / "rclone", fs::perms::owner_all);
  }
  fs::path Away(const std::string& name) const { return directory_ / "away" / name; }

  Store store_;
  const Environment environment_ = Environment(
      {"PATH=" + std::string(getenv("PATH")), "HOME=/nonexistent", "RCLONE_CONFIG=/dev/null"});
};

TEST_F(ObjectLevelTest, WhatIsPushedComesBackToTheByte) {
  const ObjectLevel level(":local:" + Away("state").string(), environment_);
  ASSERT_TRUE(level.List()->empty());
  ASSERT_FALSE(WriteGeneration(&store_, "a").failed());
  ASSERT_TRUE(level.Push(store_, 1).ok());
  EXPECT_THAT(*level.List(), ElementsAre(ObjectGeneration{1, true}));
  const std::string shard = Slurp(directory_ / "here" / "gen-0000000001" / "shard-000001");
  fs::remove_all(directory_ / "here" / "gen-0000000001");
  EXPECT_EQ(checkpoint::NewestThatSeemsWhole(store_), 0U);
  ASSERT_EQ(level.FetchNewest(store_).value_or(0), 1U);
  EXPECT_EQ(checkpoint::NewestThatSeemsWhole(store_), 1U);
  EXPECT_EQ(Slurp(directory_ / "here" / "gen-0000000001" / "shard-000001"), shard);
  EXPECT_EQ(Slurp(directory_ / "here" / "latest"), "gen-0000000001\n");
}

TEST_F(ObjectLevelTest, TheNewestTwoStayAndWhatWasCutOffGoes) {
  const ObjectLevel level(":local:" + Away("state").string(), environment_);
  for (std::uint64_t i = 1; i <= 4; ++i) {
    ASSERT_FALSE(WriteGeneration(&store_, "a").failed());
    if (i == 3) {
      fs::create_directory(Away("state") / "gen-0000000003");  // by one that was killed
      continue;
    }
    ASSERT_TRUE(level.Push(store_, i).ok());
  }
  EXPECT_THAT(*level.List(), ElementsAre(ObjectGeneration{4, true}, ObjectGeneration{2, true}));
}

TEST_F(ObjectLevelTest, ACopyThatWasCutOffIsNotWholeAndTheOneBeforeIsFetched) {
  const ObjectLevel level(":local:" + Away("state").string(), environment_);
  ASSERT_FALSE(WriteGeneration(&store_, "a", 2).failed());
  ASSERT_TRUE(level.Push(store_, 1).ok());
  ASSERT_FALSE(WriteGeneration(&store_, "b", 2).failed());
  CutOffAt("shard-000002");
  const Environment cut({"PATH=" + (directory_ / "bin").string() + ":/usr/bin:/bin",
                         "HOME=/nonexistent", "RCLONE_CONFIG=/dev/null"});
  const ObjectLevel broken(level.place(), cut);
  EXPECT_FALSE(broken.Push(store_, 2).ok());
  EXPECT_TRUE(fs::exists(Away("state") / "gen-0000000002" / "shard-000001"));
  EXPECT_FALSE(fs::exists(Away("state") / "gen-0000000002" / "shard-000002"));
  EXPECT_THAT(*level.List(), ElementsAre(ObjectGeneration{2, false}, ObjectGeneration{1, true}));
  fs::remove_all(directory_ / "here" / "gen-0000000001");
  fs::remove_all(directory_ / "here" / "gen-0000000002");
  EXPECT_FALSE(broken.FetchNewest(store_).ok());
  EXPECT_EQ(checkpoint::NewestThatSeemsWhole(store_), 0U);
  EXPECT_EQ(level.FetchNewest(store_).value_or(0), 1U);
}

TEST_F(ObjectLevelTest, ADamagedOneIsPassedOver) {
  const ObjectLevel level(":local:" + Away("state").string(), environment_);
  ASSERT_FALSE(WriteGeneration(&store_, "a", 2).failed());
  ASSERT_TRUE(level.Push(store_, 1).ok());
  ASSERT_FALSE(WriteGeneration(&store_, "b", 2).failed());
  ASSERT_TRUE(level.Push(store_, 2).ok());
  Spill(Away("state") / "gen-0000000002" / "shard-000000", "not what it was");
  fs::remove_all(directory_ / "here" / "gen-0000000001");
  fs::remove_all(directory_ / "here" / "gen-0000000002");
  EXPECT_EQ(level.FetchNewest(store_).value_or(0), 1U);
}

TEST_F(ObjectLevelTest, OneThatARestartFailedFromIsNotFetchedAgain) {
  const ObjectLevel level(":local:" + Away("state").string(), environment_);
  ASSERT_FALSE(WriteGeneration(&store_, "a").failed());
  ASSERT_TRUE(level.Push(store_, 1).ok());
  ASSERT_TRUE(store_.restarts().SetAside(1).value);
  EXPECT_EQ(level.FetchNewest(store_).value_or(9), 0U);
}

TEST_F(ObjectLevelTest, AnotherRunsNewerOnesAreLeftAlone) {
  const ObjectLevel level(":local:" + Away("state").string(), environment_);
  ASSERT_FALSE(WriteGeneration(&store_, "a").failed());
  fs::create_directories(Away("state") / "gen-0000000009");
  Spill(Away("state") / "gen-0000000009.whole", "0\n");
  EXPECT_THAT(std::string(level.Push(store_, 1).message()),
              HasSubstr("holds generation 9, newer than 1 here: it is of another run"));
}

TEST_F(ObjectLevelTest, ARemoteThatIsNotConfiguredIsAnErrorWithRclonesLine) {
  const ObjectLevel level("nowhere:bucket", environment_);
  EXPECT_THAT(std::string(level.List().status().message()), HasSubstr("nowhere"));
}

}  // namespace
}  // namespace muster::cli

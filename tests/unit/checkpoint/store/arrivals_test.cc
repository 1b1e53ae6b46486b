#include "checkpoint/store/arrivals.h"

#include <gmock/gmock.h>

#include <string>

#include "tests/unit/checkpoint/store_files.h"

namespace muster::checkpoint {
namespace {

// A generation of three ranks that comes from `from` into an empty directory beside it.
class ArrivalsTest : public StoreFiles {
 protected:
  void SetUp() override {
    StoreFiles::SetUp();
    fs::create_directories(directory_ / "from");
    fs::create_directories(directory_ / "to");
    from_ = Open("from");
    to_ = Open("to");
    ASSERT_FALSE(WriteGeneration(&from_, "new").failed());
    manifest_ = from_.ReadManifest({1, GenerationState::kComplete}).value;
  }
  Store Open(const std::string& name) const {
    return std::move(Store::Open(Disk::Real(), (directory_ / name).string()).value);
  }
  Store from_;
  Store to_;
  Manifest manifest_;
};

TEST_F(ArrivalsTest, AGenerationIsCompleteWithItsLastShard) {
  Arrivals arrivals(&to_);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    EXPECT_FALSE(arrivals.Complete(manifest_, {}).value);
    EXPECT_FALSE(arrivals.HasSame(manifest_).value);
    EXPECT_TRUE(arrivals.Place(manifest_, rank, from_).value);
  }
  EXPECT_TRUE(arrivals.Complete(manifest_, {}).value);
  EXPECT_TRUE(arrivals.HasSame(manifest_).value);
  EXPECT_TRUE(to_.Verify({1, GenerationState::kComplete}).ok());
}

TEST_F(ArrivalsTest, AShardThatIsThereIsNotCopiedAgain) {
  const Arrivals arrivals(&to_);
  EXPECT_TRUE(arrivals.Place(manifest_, 0, from_).value);
  const Result<bool> again = arrivals.Place(manifest_, 0, from_);
  EXPECT_TRUE(again.ok());
  EXPECT_FALSE(again.value);
}

TEST_F(ArrivalsTest, AnotherGenerationOfThatNumberIsForeign) {
  ASSERT_FALSE(WriteGeneration(&to_, "mine").failed());
  EXPECT_EQ(Arrivals(&to_).HasSame(manifest_).error.fault, Fault::kForeign);
}

TEST_F(ArrivalsTest, WhatCameWholeFromElsewhereIsAdoptedOnlyIfEveryByteIsRight) {
  ASSERT_FALSE(to_.LockForWriting().failed());
  ASSERT_FALSE(to_.BeginAs(1).failed());
  const fs::path here = directory_ / "to" / "gen-0000000001.tmp";
  for (const auto& entry : fs::directory_iterator(directory_ / "from" / "gen-0000000001")) {
    fs::copy_file(entry.path(), here / entry.path().filename());
  }
  const std::string right = Slurp(here / "shard-000001");
  Spill(here / "shard-000001", right.substr(1) + "x");
  EXPECT_TRUE(Adopt(1, &to_).failed());
  EXPECT_EQ(NewestThatSeemsWhole(to_), 0U);
  Spill(here / "shard-000001", right);
  EXPECT_FALSE(Adopt(1, &to_).failed());
  EXPECT_TRUE(to_.Verify({1, GenerationState::kComplete}).ok());
  EXPECT_EQ(Slurp(directory_ / "to" / "latest"), "gen-0000000001\n");
}

}  // namespace
}  // namespace muster::checkpoint

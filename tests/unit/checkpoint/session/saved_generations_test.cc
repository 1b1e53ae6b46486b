#include "checkpoint/session/saved_generations.h"

#include <gmock/gmock.h>

#include <optional>
#include <string>

#include "tests/unit/checkpoint/store_files.h"

namespace muster::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Generations of three ranks, seen by one of them.
class SavedGenerationsTest : public StoreFiles {
 protected:
  void SetUp() override {
    StoreFiles::SetUp();
    options_.directory = directory_.string();
    options_.job = "job7";
    options_.ranks = kRanks;
    ASSERT_FALSE(WriteGenerationHere("old", 5).failed());
    ASSERT_FALSE(WriteGenerationHere("new", 5).failed());
    levels_.emplace(options_, std::move(Store::Open(Disk::Real(), options_.directory).value),
                    std::nullopt);
    saved_.emplace(options_, *levels_, regions_);
  }
  void TearDown() override {
    saved_.reset();
    levels_.reset();
    StoreFiles::TearDown();
  }
  void Damage(int generation) {
    const fs::path shard = Generation(generation) / "shard-000000";
    Spill(shard, Slurp(shard) + "x");
  }
  SessionOptions options_;
  Regions regions_{Disk::Real()};
  std::optional<CommitLevels> levels_;
  std::optional<SavedGenerations> saved_;
};

TEST_F(SavedGenerationsTest, TheNewestThatIsWholeIsChosenAndTheOthersAreNamed) {
  EXPECT_EQ(saved_->Latest().value, 2U);
  Damage(2);
  EXPECT_EQ(saved_->Latest().value, 1U);
  EXPECT_THAT(saved_->passed(), ElementsAre(HasSubstr("gen-0000000002")));
}

TEST_F(SavedGenerationsTest, AGenerationThatARestartFailedFromStandsBehindAllOthers) {
  ASSERT_FALSE(saved_->NoteRestart(2).failed());
  saved_.emplace(options_, *levels_, regions_);
  const Result<std::vector<Candidate>> candidates = saved_->Candidates();
  ASSERT_EQ(candidates.value.size(), 2U);
  EXPECT_EQ(candidates.value[0].name.number, 1U);
  EXPECT_EQ(candidates.value[1].name.state, GenerationState::kSetAside);
  EXPECT_EQ(saved_->set_aside(), 2U);
}

TEST_F(SavedGenerationsTest, AConfirmedRestartIsForgotten) {
  ASSERT_FALSE(saved_->NoteRestart(2).failed());
  ASSERT_FALSE(saved_->Confirm().failed());
  saved_.emplace(options_, *levels_, regions_);
  EXPECT_EQ(saved_->Candidates().value.front().name.number, 2U);
  EXPECT_EQ(saved_->set_aside(), 0U);
}

TEST_F(SavedGenerationsTest, ARankReadsItsOwnRegionsAndAnyOthers) {
  std::string state(4, ' ');
  ASSERT_FALSE(regions_.Add("state", state.data(), state.size()).failed());
  ASSERT_EQ(saved_->Restore(2).text, "");
  EXPECT_EQ(state, "new0");
  EXPECT_EQ(saved_->Ranks(2).value, kRanks);
  EXPECT_EQ(saved_->RegionSize(1, 2, "state").value, 4U);
  ASSERT_FALSE(saved_->ReadRegion(1, 2, "state", state.data(), state.size()).failed());
  EXPECT_EQ(state, "old2");
}

TEST_F(SavedGenerationsTest, NothingIsReadOfAGenerationThatOtherRanksWroteOrThatLacksARegion) {
  int other = 5;
  ASSERT_FALSE(regions_.Add("other", &other, sizeof other).failed());
  EXPECT_EQ(saved_->Restore(2).fault, Fault::kRegions);
  EXPECT_EQ(saved_->Examine({{2, GenerationState::kComplete}, StoreLevel::kShared}).error.fault,
            Fault::kRegions);
  options_.ranks = 2;
  EXPECT_EQ(saved_->Restore(2).fault, Fault::kRanks);
  EXPECT_EQ(other, 5);
}

TEST_F(SavedGenerationsTest, ExaminingLooksAtEveryByteOfThisRanksPart) {
  const Candidate newest{{2, GenerationState::kComplete}, StoreLevel::kShared};
  EXPECT_NE(saved_->Examine(newest).value, 0U);
  Damage(2);
  EXPECT_THAT(saved_->Examine(newest).error.text, HasSubstr("gen-0000000002: "));
  options_.rank = 1;  // whose own shard is good
  EXPECT_TRUE(saved_->Examine(newest).ok());
  options_.job = "job8";
  EXPECT_EQ(saved_->Examine(newest).error.fault, Fault::kForeign);
}

TEST_F(SavedGenerationsTest, OnlyRankZeroChooses) {
  options_.rank = 1;
  EXPECT_EQ(saved_->Latest().error.text, "latest: is rank 0's");
  EXPECT_EQ(saved_->Candidates().error.fault, Fault::kUsage);
  EXPECT_EQ(saved_->NoteRestart(1).fault, Fault::kUsage);
  EXPECT_EQ(saved_->Confirm().fault, Fault::kUsage);
}

}  // namespace
}  // namespace muster::checkpoint

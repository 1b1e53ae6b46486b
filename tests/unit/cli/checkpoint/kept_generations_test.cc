#include "cli/checkpoint/kept_generations.h"

#include <gmock/gmock.h>

#include "tests/unit/checkpoint/store_files.h"

namespace muster::cli {
namespace {

class KeptGenerationsTest : public checkpoint::StoreFiles {};

TEST_F(KeptGenerationsTest, TheOldestGoUntilThereIsEnough) {
  ASSERT_FALSE(WriteGenerationHere("a", 9).failed());
  ASSERT_FALSE(WriteGenerationHere("b", 9).failed());
  ASSERT_FALSE(WriteGenerationHere("c", 9).failed());
  std::vector<KeptGenerations> all;
  all.push_back(*HoldGenerations(directory_.string()));
  EXPECT_EQ(SumOf(all).count, 3U);
  ASSERT_TRUE(RetireUntil([](const KeptSum& sum) { return sum.count <= 2; }, all).ok());
  EXPECT_EQ(SumOf(all).count, 2U);
  EXPECT_FALSE(checkpoint::fs::exists(Generation(1)));
  ASSERT_TRUE(RetireUntil([](const KeptSum& sum) { return sum.count == 0; }, all).ok());
  EXPECT_EQ(SumOf(all).count, 1U);  // the newest stays
}

TEST_F(KeptGenerationsTest, NothingGoesWhereTheNewestDoesNotReadBack) {
  ASSERT_FALSE(WriteGenerationHere("a", 9).failed());
  ASSERT_FALSE(WriteGenerationHere("b", 9).failed());
  Spill(Generation(2) / "shard-000001", "damaged");
  std::vector<KeptGenerations> all;
  all.push_back(*HoldGenerations(directory_.string()));
  EXPECT_FALSE(RetireUntil([](const KeptSum&) { return false; }, all).ok());
  EXPECT_TRUE(checkpoint::fs::exists(Generation(1)));
}

TEST_F(KeptGenerationsTest, ADirectoryInWhichAProgramWritesIsNotHeld) {
  checkpoint::Store writer =
      std::move(checkpoint::Store::Open(checkpoint::Disk::Real(), directory_.string()).value);
  ASSERT_FALSE(writer.LockForWriting().failed());
  EXPECT_THAT(std::string(HoldGenerations(directory_.string()).status().message()),
              ::testing::HasSubstr("another living program writes there"));
}

}  // namespace
}  // namespace muster::cli

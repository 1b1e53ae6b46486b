#include "cli/checkpoint/held_generation.h"

#include <gmock/gmock.h>

#include "tests/unit/checkpoint/store_files.h"

namespace muster::cli {
namespace {

class HeldGenerationTest : public checkpoint::StoreFiles {};

TEST_F(HeldGenerationTest, ItsFilesStayReadableAfterItIsRetired) {
  ASSERT_FALSE(WriteGenerationHere("old").failed());
  const std::string shard = Slurp(Generation(1) / "shard-000002");
  const auto store = checkpoint::Store::Open(checkpoint::Disk::Real(), directory_.string());
  std::string path;
  {
    const absl::StatusOr<HeldGeneration> held = HeldGeneration::Hold(store.value, 1);
    ASSERT_TRUE(held.ok()) << held.status();
    path = held->path();
    ASSERT_FALSE(WriteGenerationHere("new").failed());
    EXPECT_FALSE(checkpoint::fs::exists(Generation(1)));
    EXPECT_EQ(Slurp(checkpoint::fs::path(path) / "shard-000002"), shard);
    EXPECT_EQ(held->manifest().shards.size(), 3U);
  }
  EXPECT_FALSE(checkpoint::fs::exists(path));
}

TEST_F(HeldGenerationTest, OneThatIsNotThereIsAnError) {
  const auto store = checkpoint::Store::Open(checkpoint::Disk::Real(), directory_.string());
  EXPECT_FALSE(HeldGeneration::Hold(store.value, 7).ok());
}

}  // namespace
}  // namespace muster::cli

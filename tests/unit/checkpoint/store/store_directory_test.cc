#include "checkpoint/store/store_directory.h"

#include <gmock/gmock.h>

#include <string>

#include "tests/unit/checkpoint/store_files.h"

namespace muster::checkpoint {
namespace {

using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class StoreDirectoryTest : public StoreFiles {
 protected:
  void SetUp() override {
    StoreFiles::SetUp();
    at_ = std::move(StoreDirectory::Open(Disk::Real(), directory_.string()).value);
  }
  StoreDirectory at_;
};

TEST_F(StoreDirectoryTest, OnlyADirectoryThatIsThereIsOpened) {
  Spill(directory_ / "file", "x");
  EXPECT_EQ(StoreDirectory::Open(Disk::Real(), (directory_ / "file").string()).error.fault,
            Fault::kSystem);
  EXPECT_EQ(StoreDirectory::Open(Disk::Real(), (directory_ / "absent").string()).error.fault,
            Fault::kSystem);
}

TEST_F(StoreDirectoryTest, ADirectoryGoesWithItsFilesAndNotWithWhatIsNoneOfOurs) {
  fs::create_directory(directory_ / "a");
  Spill(directory_ / "a" / "shard", "x");
  EXPECT_FALSE(at_.RemoveFiles("a").failed());
  EXPECT_FALSE(fs::exists(directory_ / "a"));
  fs::create_directories(directory_ / "b" / "another");
  EXPECT_EQ(at_.RemoveFiles("b").text, "b: remove: Is a directory");
  EXPECT_TRUE(fs::exists(directory_ / "b" / "another"));
}

TEST_F(StoreDirectoryTest, ANameThatIsTakenIsNotTakenAway) {
  fs::create_directory(directory_ / "a");
  fs::create_directory(directory_ / "b");
  EXPECT_THAT(at_.Rename("a", "b").text, StartsWith("a: rename: "));
  EXPECT_FALSE(at_.Rename("a", "c").failed());
  EXPECT_THAT(at_.Entries().value, UnorderedElementsAre("b", "c"));
}

TEST_F(StoreDirectoryTest, LatestNamesTheGeneration) {
  ASSERT_FALSE(at_.ReplaceLatest(12).failed());
  EXPECT_EQ(Slurp(directory_ / "latest"), "gen-0000000012\n");
}

}  // namespace
}  // namespace muster::checkpoint

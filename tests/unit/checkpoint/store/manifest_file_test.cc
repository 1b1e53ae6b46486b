#include "checkpoint/store/manifest_file.h"

#include <gmock/gmock.h>

#include <string>

#include "checkpoint/store/store_directory.h"
#include "tests/unit/checkpoint/store_files.h"

namespace muster::checkpoint {
namespace {

using ::testing::HasSubstr;

class ManifestFileTest : public StoreFiles {
 protected:
  void SetUp() override {
    StoreFiles::SetUp();
    at_ = std::move(StoreDirectory::Open(Disk::Real(), directory_.string()).value);
    manifest_.job = "job7";
    manifest_.generation = 12;
    manifest_.shards = {{0, 10, 20}};
  }
  Result<Manifest> Read(std::uint64_t generation) const {
    return ReadManifestIn(at_.disk(), at_.fd(), {generation, GenerationState::kComplete});
  }
  StoreDirectory at_;
  Manifest manifest_;
};

TEST_F(ManifestFileTest, WhatIsWrittenIsReadByTheNumberOfItsGenerationAlone) {
  ASSERT_FALSE(WriteManifestIn(at_.disk(), at_.fd(), manifest_).failed());
  EXPECT_EQ(Read(12).value, manifest_);
  EXPECT_EQ(Read(13).error.fault, Fault::kForeign);
  EXPECT_THAT(Read(13).error.text, HasSubstr("gen-0000000013: manifest: is that of generation 12"));
}

TEST_F(ManifestFileTest, OneThatIsThereIsNotWrittenOver) {
  Spill(directory_ / "manifest", "another");
  EXPECT_THAT(WriteManifestIn(at_.disk(), at_.fd(), manifest_).text, HasSubstr("manifest: create"));
  EXPECT_EQ(Slurp(directory_ / "manifest"), "another");
}

TEST_F(ManifestFileTest, ADirectoryHoldsItsShardsAndNothingElse) {
  ASSERT_FALSE(WriteManifestIn(at_.disk(), at_.fd(), manifest_).failed());
  const auto check = [this] { return CheckEntriesIn(at_.disk(), at_.fd(), manifest_); };
  EXPECT_EQ(check().text, "shard-000000: is missing");
  Spill(directory_ / "shard-000000", "");
  EXPECT_FALSE(check().failed());
  Spill(directory_ / "other", "");
  EXPECT_EQ(check().fault, Fault::kForeign);
}

}  // namespace
}  // namespace muster::checkpoint

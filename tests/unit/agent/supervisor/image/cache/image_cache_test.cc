#include "agent/supervisor/image/cache/image_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "agent/supervisor/image/cache/tree_size.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kRoom = 1000;

class ImageCacheTest : public ::testing::Test {
 protected:
  // The image `key`, with a file of that many bytes, found or made.
  absl::StatusOr<CachedImage> Want(const std::string& key, std::size_t bytes) {
    return cache_.FindOrMake(key, [&](const std::string& draft) -> absl::StatusOr<ImageFacts> {
      ++made_;
      std::filesystem::create_directory(draft + "/rootfs");
      std::ofstream(draft + "/rootfs/file") << std::string(bytes, 'x');
      ImageFacts facts;
      facts.digest = "sha256:" + key;
      facts.environment = {"A=1"};
      return facts;
    });
  }
  void Waiting() {
    cache_ = *ImageCache::Open(directory_.path() + "/61001", kRoom, CacheUse::kWaiting);
  }
  void Starting() { cache_ = *ImageCache::Open(directory_.path() + "/61001", kRoom); }
  bool Has(const std::string& key) { return cache_.Find(key)->has_value(); }

  TempDirectory directory_;
  ImageCache cache_ = *ImageCache::Open(directory_.path() + "/61001", kRoom);
  int made_ = 0;
};

TEST_F(ImageCacheTest, AnImageIsMadeOnce) {
  ASSERT_TRUE(Want("a", 10).ok());
  const absl::StatusOr<CachedImage> again = Want("a", 10);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(made_, 1);
  EXPECT_EQ(again->facts.digest, "sha256:a");
  EXPECT_EQ(again->facts.environment, std::vector<std::string>{"A=1"});
  EXPECT_TRUE(std::filesystem::exists(again->rootfs + "/file"));
}

TEST_F(ImageCacheTest, WhatCouldNotBeMadeLeavesNothing) {
  const auto failed = cache_.FindOrMake("a", [](const std::string&) -> absl::StatusOr<ImageFacts> {
    return absl::UnavailableError("no registry");
  });
  EXPECT_EQ(failed.status().message(), "no registry");
  EXPECT_FALSE(Has("a"));
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path() + "/61001/images"));
}

TEST_F(ImageCacheTest, TheImageThatWasNotUsedForTheLongestTimeGoesFirst) {
  ASSERT_TRUE(Want("a", 400).ok());
  ASSERT_TRUE(Want("b", 400).ok());
  EXPECT_TRUE(Has("a"));  // used again
  ASSERT_TRUE(Want("c", 400).ok());
  EXPECT_FALSE(Has("b"));
  EXPECT_TRUE(Has("a"));
  EXPECT_TRUE(Has("c"));
}

TEST_F(ImageCacheTest, WhatWasMadeForAJobThatWaitsGoesLast) {
  Waiting();
  ASSERT_TRUE(Want("a", 400).ok());
  Starting();
  ASSERT_TRUE(Want("b", 400).ok());
  ASSERT_TRUE(Want("c", 400).ok());
  EXPECT_TRUE(Has("a"));
  EXPECT_FALSE(Has("b"));
  ASSERT_TRUE(Want("a", 400).ok());  // the job has begun
  ASSERT_TRUE(Want("c", 400).ok());
  ASSERT_TRUE(Want("d", 400).ok());
  EXPECT_FALSE(Has("a"));
}

TEST_F(ImageCacheTest, AJobThatBeginsMayTakeTheRoomOfOneThatWaitsAndAnotherThatWaitsMayNot) {
  Waiting();
  ASSERT_TRUE(Want("a", 600).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(Want("b", 600).status()));
  EXPECT_FALSE(cache_.MakeRoom(600));
  EXPECT_TRUE(Has("a"));
  EXPECT_FALSE(Has("b"));
  Starting();
  ASSERT_TRUE(Want("b", 600).ok());
  EXPECT_FALSE(Has("a"));
}

TEST_F(ImageCacheTest, WhatWaitsForADayIsAsOthersAre) {
  Waiting();
  ASSERT_TRUE(Want("a", 600).ok());
  std::filesystem::last_write_time(
      directory_.path() + "/61001/images/a/ahead",
      std::filesystem::file_time_type::clock::now() - kAheadKept - std::chrono::hours(1));
  EXPECT_TRUE(Want("b", 600).ok());
  EXPECT_FALSE(Has("a"));
}

TEST_F(ImageCacheTest, OfImagesThatTakeNoRoomTheNewestStay) {
  ASSERT_TRUE(Want("a", 0).ok());
  const std::string images = directory_.path() + "/61001/images/";
  for (std::size_t i = 1; i < ImageCache::kEntriesMax; ++i) {
    std::filesystem::create_directory(images + std::to_string(i));
    std::filesystem::copy(images + "a/image.json", images + std::to_string(i) + "/image.json");
  }
  ASSERT_TRUE(Want("b", 0).ok());
  EXPECT_FALSE(Has("a"));
  EXPECT_TRUE(Has("b"));
  EXPECT_TRUE(Has("999"));
}

TEST_F(ImageCacheTest, OthersSeeThatAnImageIsBeingMade) {
  EXPECT_FALSE(cache_.IsBeingMade("a"));
  bool seen = false;
  ASSERT_TRUE(cache_
                  .FindOrMake("a",
                              [&](const std::string& draft) -> absl::StatusOr<ImageFacts> {
                                seen = cache_.IsBeingMade("a");
                                std::filesystem::create_directory(draft + "/rootfs");
                                return ImageFacts{};
                              })
                  .ok());
  EXPECT_TRUE(seen);
  EXPECT_FALSE(cache_.IsBeingMade("a"));
}

TEST_F(ImageCacheTest, WhatWhoWasEndedLeftHalfMadeGoesWithTheNext) {
  const std::string left = directory_.path() + "/61001/images/.draft.a";
  std::filesystem::create_directory(left);
  ASSERT_TRUE(cache_
                  .FindOrMake("b",
                              [&](const std::string& draft) -> absl::StatusOr<ImageFacts> {
                                std::filesystem::create_directory(draft + "/rootfs");
                                EXPECT_TRUE(cache_.MakeRoom(0));
                                EXPECT_TRUE(std::filesystem::exists(draft)) << "it is being made";
                                return ImageFacts{};
                              })
                  .ok());
  EXPECT_FALSE(std::filesystem::exists(left));
}

TEST_F(ImageCacheTest, RoomIsMadeForWhatIsToCome) {
  ASSERT_TRUE(Want("a", 400).ok());
  ASSERT_TRUE(Want("b", 400).ok());
  EXPECT_TRUE(cache_.MakeRoom(400));
  EXPECT_FALSE(Has("a"));
  EXPECT_TRUE(Has("b"));
}

TEST_F(ImageCacheTest, AnImageInUseStays) {
  const absl::StatusOr<CachedImage> used = Want("a", 900);
  ASSERT_TRUE(used.ok());
  ASSERT_TRUE(Want("b", 900).ok());
  EXPECT_TRUE(Has("a"));
}

TEST_F(ImageCacheTest, WhatAnEndedContainerChangedGoes) {
  LockedDirectory first = *cache_.MakeScratch("7.1");
  const LockedDirectory second = *cache_.MakeScratch("7.1");
  EXPECT_NE(first.path, second.path);
  first.lock.reset();
  const LockedDirectory third = *cache_.MakeScratch("8.1");
  EXPECT_FALSE(std::filesystem::exists(first.path));
  EXPECT_TRUE(std::filesystem::exists(second.path));
}

TEST_F(ImageCacheTest, ANameIsOneContainersAtATimeAndOfOneImage) {
  {
    const absl::StatusOr<LockedDirectory> mine = cache_.OpenNamed("dev", "a");
    ASSERT_TRUE(mine.ok()) << mine.status();
    EXPECT_THAT(std::string(cache_.OpenNamed("dev", "a").status().message()),
                HasSubstr("--container-name: the container dev is in use"));
  }
  EXPECT_TRUE(cache_.OpenNamed("dev", "a").ok());
  EXPECT_THAT(std::string(cache_.OpenNamed("dev", "b").status().message()),
              HasSubstr("was made from another image"));
}

TEST_F(ImageCacheTest, AFileThatWasWrittenAgainIsAnotherImage) {
  const std::string path = directory_.path() + "/a.sqsh";
  std::ofstream(path) << "one";
  const std::string first = *KeyOfFile(path);
  std::ofstream(path) << "three";
  EXPECT_NE(*KeyOfFile(path), first);
  EXPECT_THAT(std::string(KeyOfFile(directory_.path() + "/none").status().message()),
              HasSubstr("No such file"));
  EXPECT_EQ(KeyOfDigest("sha256:ab"), "sha256-ab");
}

TEST_F(ImageCacheTest, WhatUnpacksToTooMuchIsRefused) {
  const std::string top = directory_.path() + "/tree";
  std::filesystem::create_directory(top);
  std::ofstream(top + "/file") << std::string(100, 'x');
  std::filesystem::create_symlink("/", top + "/root");  // is not followed
  EXPECT_EQ(SizeOf(top, {UINT64_MAX, UINT64_MAX}).entries, 2U);
  EXPECT_TRUE(CheckSize(top, {100, 2}).ok());
  EXPECT_THAT(std::string(CheckSize(top, {99, 2}).message()), HasSubstr("unpacks to more than"));
  EXPECT_THAT(std::string(CheckSize(top, {100, 1}).message()), HasSubstr("more than 1 files"));
}

}  // namespace
}  // namespace muster::agent

#include "agent/supervisor/image/layout/image_take.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "agent/supervisor/image/cache/image_cache.h"
#include "agent/supervisor/image/layout/image_give.h"
#include "agent/supervisor/image/layout/shared_layout.h"
#include "scheduler/runtime/file.h"
#include "tests/unit/agent/supervisor/image/layout/layout_maker.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

// One node has a cache with an image; another takes it from there. Both are this process.
class ImageTakeTest : public ::testing::Test {
 protected:
  ~ImageTakeTest() override {
    if (giver_.joinable()) {
      giver_.join();
    }
  }
  [[nodiscard]] ImageCache Cache() const {
    return ImageCache::Open(directory_ / "cache", 1 << 30).value();
  }
  // The image with its layout is in the giver's cache.
  void Keep(std::size_t bytes = 1'000'000) {
    made_ = MakeLayout(directory_ / "made", bytes);
    ASSERT_TRUE(Cache()
                    .FindOrMake(KeyOfDigest(made_.manifest),
                                [this](const std::string& draft) -> absl::StatusOr<ImageFacts> {
                                  std::filesystem::create_directory(draft + "/rootfs");
                                  std::filesystem::copy(directory_ / "made", draft + "/layout",
                                                        std::filesystem::copy_options::recursive);
                                  return ImageFacts{};
                                })
                    .ok());
  }
  absl::StatusOr<TakenImage> Take(const std::string& digest,
                                  const std::function<ImageGift(const ImageWanted&)>& gift) {
    const ImageSharing sharing{
        .one_machine = true, .announce = [this, gift](const ImageWanted& wanted) {
          giver_ = std::thread([made = gift(wanted)] { GiveImage(made).IgnoreError(); });
          return true;
        }};
    return TakeImage({"app:v1", digest, directory_ / "taken", 1 << 24, std::chrono::seconds(20)},
                     sharing);
  }
  [[nodiscard]] ImageGift GiftFor(const ImageWanted& wanted) const {
    return {.digest = wanted.digest,
            .cache = directory_ / "cache",
            .addresses = wanted.addresses,
            .token = wanted.token,
            .soon = std::chrono::milliseconds(300)};
  }

  TempDirectory directory_;
  MadeLayout made_;
  std::thread giver_;
};

TEST_F(ImageTakeTest, TheLayoutComesWhole) {
  Keep();
  const auto taken = Take(made_.manifest, [&](const auto& wanted) { return GiftFor(wanted); });
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_TRUE(taken->taken);
  EXPECT_TRUE(taken->kept);
  const std::vector<std::string> names = FilesOfLayout(directory_ / "made").value();
  for (const std::string& name : names) {
    EXPECT_EQ(ReadFile(absl::StrCat(directory_ / "taken", "/", name)).value(),
              ReadFile(absl::StrCat(directory_ / "made", "/", name)).value())
        << name;
  }
}

TEST_F(ImageTakeTest, AnImageThatIsBeingFetchedIsWaitedFor) {
  made_ = MakeLayout(directory_ / "made");
  const ImageCache cache = Cache();
  std::thread fetch;
  const auto taken = Take(made_.manifest, [&](const ImageWanted& wanted) {
    fetch = std::thread([this] { Keep(100'000); });
    return GiftFor(wanted);
  });
  fetch.join();
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_TRUE(taken->taken);
}

TEST_F(ImageTakeTest, WhatIsNotThereAndNotComingIsSoonRefused) {
  made_ = MakeLayout(directory_ / "made");
  const auto taken = Take(made_.manifest, [&](const auto& wanted) { return GiftFor(wanted); });
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_FALSE(taken->taken);
  EXPECT_TRUE(taken->kept);
}

TEST_F(ImageTakeTest, AWordIsEnoughThatNoneComes) {
  for (const ShareKind kind : {ShareKind::kFetch, ShareKind::kAlone}) {
    const auto taken = Take("sha256:" + std::string(64, 'a'), [&](const ImageWanted& wanted) {
      ImageGift gift = GiftFor(wanted);
      gift.kind = kind;
      return gift;
    });
    ASSERT_TRUE(taken.ok()) << taken.status();
    EXPECT_FALSE(taken->taken);
    EXPECT_EQ(taken->kept, kind == ShareKind::kFetch);
    giver_.join();
  }
}

TEST_F(ImageTakeTest, AnotherImageThanTheOneAskedForIsNotTaken) {
  Keep();
  const std::string other = "sha256:" + std::string(64, 'a');
  const auto taken = Take(other, [&](const ImageWanted& wanted) {
    ImageGift gift = GiftFor(wanted);
    gift.digest = made_.manifest;
    return gift;
  });
  EXPECT_TRUE(absl::IsInvalidArgument(taken.status())) << taken.status();
}

TEST_F(ImageTakeTest, BytesThatAreNotTheirDigestsAreNotTaken) {
  Keep();
  const std::string blobs = absl::StrCat(directory_ / "cache", "/images/",
                                         KeyOfDigest(made_.manifest), "/layout/blobs/sha256/");
  std::ofstream(blobs + made_.layer.substr(7), std::ios::app) << "more";
  const auto taken = Take(made_.manifest, [&](const auto& wanted) { return GiftFor(wanted); });
  EXPECT_TRUE(absl::IsDataLoss(taken.status())) << taken.status();
}

TEST_F(ImageTakeTest, WhereNobodyCanBeAskedNothingIsWaitedFor) {
  const ImageSharing sharing{.one_machine = true,
                             .announce = [](const ImageWanted&) { return false; }};
  EXPECT_TRUE(absl::IsUnavailable(
      TakeImage({"app:v1", "sha256:0", directory_ / "taken", 1, std::chrono::seconds(1)}, sharing)
          .status()));
}

TEST_F(ImageTakeTest, AnImageThatIsSaidToBeHereIsLookedForFirst) {
  ImageGift gift{.kept = true, .cache = directory_ / "cache"};
  gift.digest = "sha256:" + std::string(64, 'a');
  EXPECT_TRUE(absl::IsNotFound(CheckGift(gift)));
  Keep();
  gift.digest = made_.manifest;
  EXPECT_TRUE(CheckGift(gift).ok());
  std::filesystem::remove_all(
      absl::StrCat(directory_ / "cache", "/images/", KeyOfDigest(made_.manifest), "/layout"));
  EXPECT_TRUE(absl::IsNotFound(CheckGift(gift)));
}

TEST(ImageGive, ItsWordsSayWhatToWhom) {
  const std::string digest = "sha256:" + std::string(64, 'a');
  const ImageGift gift = ReadGiveWords({"image", digest, "/cache/7", "10.0.0.1:7", "[::1]:7"},
                                       {"A=b", "MUSTER_IMAGE_TOKEN=secret"})
                             .value();
  EXPECT_EQ(gift.kind, ShareKind::kData);
  EXPECT_EQ(gift.digest, digest);
  EXPECT_EQ(gift.cache, "/cache/7");
  EXPECT_EQ(gift.addresses, (std::vector<std::string>{"10.0.0.1:7", "[::1]:7"}));
  EXPECT_EQ(gift.token, "secret");
  EXPECT_FALSE(gift.kept);
  EXPECT_TRUE(
      ReadGiveWords({"kept", digest, "/c", "10.0.0.1:7"}, {"MUSTER_IMAGE_TOKEN=secret"})->kept);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{},
        {"image", digest, "/cache/7"},
        {"image", "sha256:../../x", "/cache/7", "10.0.0.1:7"},
        {"lend", digest, "/cache/7", "10.0.0.1:7"}}) {
    EXPECT_TRUE(
        absl::IsInvalidArgument(ReadGiveWords(words, {"MUSTER_IMAGE_TOKEN=secret"}).status()));
  }
  EXPECT_FALSE(ReadGiveWords({"image", digest, "/cache/7", "10.0.0.1:7"}, {}).ok());
}

}  // namespace
}  // namespace muster::agent

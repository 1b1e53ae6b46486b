#include "agent/supervisor/image/cache/kept_images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "agent/supervisor/image/cache/cache_entry.h"
#include "agent/supervisor/image/cache/image_cache.h"
#include "scheduler/runtime/clock.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Duration kSoon = std::chrono::seconds(10);
constexpr Duration kHour = std::chrono::hours(1);

class KeptImagesTest : public ::testing::Test {
 protected:
  // The image `key`, fetched by the name `name`; used so long ago.
  CachedImage Keep(const std::string& key, const std::string& name, Duration ago = Duration(0)) {
    CachedImage image =
        *cache_.FindOrMake(key, [&](const std::string& draft) -> absl::StatusOr<ImageFacts> {
          std::filesystem::create_directory(draft + "/rootfs");
          std::ofstream(draft + "/rootfs/file") << std::string(100, 'x');
          ImageFacts facts;
          facts.name = name;
          facts.digest = "sha256:" + std::string(key.substr(7));
          facts.architecture = "amd64";
          return facts;
        });
    const auto then = std::filesystem::file_time_type::clock::now() - ago;
    std::filesystem::last_write_time(place_ + "/images/" + key, then);
    return image;
  }
  std::vector<std::string> Remove(const KeptChoice& choice) {
    std::vector<std::string> told;
    for (const KeptImage& each : RemoveKept(place_, choice, SystemClock().Now(), kSoon)) {
      told.push_back((each.container.empty() ? each.name : each.container) +
                     (each.in_use ? " in use" : ""));
    }
    return told;
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const KeptImage& each : ListKept(place_)) {
      names.push_back(each.container.empty() ? each.name : each.container);
    }
    return names;
  }

  TempDirectory directory_;
  const std::string place_ = directory_.path() + "/61001";
  const ImageCache cache_ = *ImageCache::Open(place_, std::uint64_t{1} << 20);
};

TEST_F(KeptImagesTest, AnImageIsToldWithItsNameDigestSizeAndUse) {
  const CachedImage used = Keep("sha256-ab12", "alpine:3.20");
  std::vector<KeptImage> kept = ListKept(place_);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].name, "alpine:3.20");
  EXPECT_EQ(kept[0].digest, "sha256:ab12");
  EXPECT_EQ(kept[0].architecture, "amd64");
  EXPECT_EQ(kept[0].bytes, 100U);
  EXPECT_GT(kept[0].used, SystemClock().Now() - kHour);
  EXPECT_TRUE(kept[0].in_use);
}

TEST_F(KeptImagesTest, AUserWithoutACacheHasNothingAndGetsNone) {
  EXPECT_THAT(ListKept(directory_.path() + "/61002"), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(directory_.path() + "/61002"));
}

TEST_F(KeptImagesTest, ADraftIsNoImageAndADescriptionThatIsBrokenIsOneByItsKey) {
  std::filesystem::create_directory(place_ + "/images/.draft.x");
  std::filesystem::create_directory(place_ + "/images/sha256-cd");
  std::ofstream(place_ + "/images/sha256-cd/image.json") << "{";
  const std::vector<KeptImage> kept = ListKept(place_);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].digest, "sha256:cd");
  EXPECT_THAT(Remove({.all = true}), ElementsAre(""));
}

TEST_F(KeptImagesTest, WhatIsNamedGoesAndTheOthersStay) {
  Keep("sha256-aa", "alpine:3.20@sha256:aa").lock.reset();
  Keep("sha256-bb", "oci:/images:v1").lock.reset();
  EXPECT_THAT(Remove({.images = {"alpine:3.20"}}), ElementsAre("alpine:3.20@sha256:aa"));
  EXPECT_THAT(Names(), ElementsAre("oci:/images:v1"));
  EXPECT_THAT(Remove({.images = {"alpine:3.20"}}), IsEmpty());
}

TEST_F(KeptImagesTest, WhatIsInUseStaysAndSaysSo) {
  const CachedImage used = Keep("sha256-aa", "used");
  Keep("sha256-bb", "idle").lock.reset();
  EXPECT_THAT(Remove({.all = true}), ElementsAre("idle", "used in use"));
  EXPECT_THAT(Names(), ElementsAre("used"));
  EXPECT_TRUE(std::filesystem::exists(used.rootfs + "/file"));
}

TEST_F(KeptImagesTest, AnAgeChoosesThoseThatWereNotUsedForSoLong) {
  Keep("sha256-aa", "old", 3 * kHour).lock.reset();
  Keep("sha256-bb", "new").lock.reset();
  EXPECT_THAT(Remove({.images = {"new"}, .unused_for = 2 * kHour}), IsEmpty());
  EXPECT_THAT(Remove({.unused_for = 2 * kHour}), ElementsAre("old"));
  EXPECT_THAT(Names(), ElementsAre("new"));
}

TEST_F(KeptImagesTest, ANamedContainerGoesByItsNameAlone) {
  {
    const LockedDirectory named = *cache_.OpenNamed("dev", "sha256-aa");
    std::filesystem::create_directory(named.path + "/upper");
    std::ofstream(named.path + "/upper/mine") << "mine";
    const std::vector<KeptImage> kept = ListKept(place_);
    ASSERT_EQ(kept.size(), 1U);
    EXPECT_EQ(kept[0].container, "dev");
    EXPECT_EQ(kept[0].digest, "sha256:aa");
    EXPECT_EQ(kept[0].bytes, 4U);
    EXPECT_TRUE(kept[0].in_use);
    EXPECT_THAT(Remove({.containers = {"dev"}}), ElementsAre("dev in use"));
  }
  EXPECT_THAT(Remove({.all = true}), IsEmpty());
  EXPECT_THAT(Remove({.containers = {"dev"}}), ElementsAre("dev"));
  EXPECT_THAT(Names(), IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(place_ + "/named"));
}

TEST_F(KeptImagesTest, WhatSomebodyBeganToRemoveGoesWithTheNextRemoval) {
  std::filesystem::create_directory(place_ + "/images/gone");
  ASSERT_NE(MoveAside(place_ + "/images/gone"), "");
  EXPECT_THAT(Names(), IsEmpty());
  EXPECT_THAT(Remove({.images = {"none"}}), IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(place_ + "/images"));
}

TEST(IsCalledTest, AnImageIsCalledByItsNameOrEnoughOfItsDigest) {
  const std::string digits = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
  KeptImage image;
  image.name = "ghcr.io/team/app:v1@sha256:" + digits;
  image.digest = "sha256:" + digits;
  for (const std::string& word :
       {image.name, std::string("ghcr.io/team/app:v1"), image.digest, digits,
        std::string("0123456789ab"), std::string("sha256:0123456789ab")}) {
    EXPECT_TRUE(IsCalled(image, word)) << word;
  }
  for (const char* word :
       {"", "sha256:", "0123456789a", "1123456789ab", "ghcr.io/team/app", "app"}) {
    EXPECT_FALSE(IsCalled(image, word)) << word;
  }
  EXPECT_FALSE(IsCalled(KeptImage(), ""));
}

TEST(IsCalledTest, ACopyOfDataIsCalledByItsSourceOrItsWholeDigest) {
  KeptImage copy;
  copy.name = "/data/team@lab/a";
  copy.digest = "data-0123456789abcdef";
  EXPECT_TRUE(IsCalled(copy, "/data/team@lab/a"));
  EXPECT_TRUE(IsCalled(copy, "data-0123456789abcdef"));
  for (const char* word : {"/data/team", "data-0123456789ab", "0123456789abcdef"}) {
    EXPECT_FALSE(IsCalled(copy, word)) << word;
  }
}

}  // namespace
}  // namespace muster::agent

#include "scheduler/core/mig/mig_layout.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>

#include "tests/unit/scheduler/core/mig/h200.h"

namespace muster::core {
namespace {

using testing::H200Profiles;

std::string Found(const std::vector<MigDemand>& demands,
                  const std::vector<MigLayout>& allowed = {}) {
  const std::optional<std::vector<MigInstance>> found =
      FindLayout(H200Profiles(), demands, allowed);
  return found.has_value() ? InstancesText(*found) : "none";
}

TEST(MigLayout, AsManyInstancesAsAreAskedForAndTheRestInFewLargeOnes) {
  EXPECT_EQ(Found({{"1g.18gb", 7}}), "7 x 1g.18gb");
  EXPECT_EQ(Found({{"1g.18gb", 1}}), "4 x 1g.18gb and 1 x 3g.71gb");
  EXPECT_EQ(Found({{"3g.71gb", 1}}), "1 x 4g.71gb and 1 x 3g.71gb");
  EXPECT_EQ(Found({{"3g.71gb", 2}}), "2 x 3g.71gb");
  EXPECT_EQ(Found({{"7g.141gb", 1}}), "1 x 7g.141gb");
}

TEST(MigLayout, WhatOthersWaitForIsCountedAfterTheFirst) {
  EXPECT_EQ(Found({{"3g.71gb", 1}, {"1g.18gb", 3}}), "4 x 1g.18gb and 1 x 3g.71gb");
  EXPECT_EQ(Found({{"3g.71gb", 1}, {"2g.35gb", 1}}), "2 x 2g.35gb and 1 x 3g.71gb");
  EXPECT_EQ(Found({{"1g.18gb", 7}, {"3g.71gb", 1}}), "7 x 1g.18gb");
}

TEST(MigLayout, OneWithEnginesOfItsOwnIsForWhoNamesIt) {
  EXPECT_EQ(Found({{"1g.18gb+me", 4}}).find("1 x 1g.18gb+me"),
            Found({{"1g.18gb+me", 4}}).find("1g.18gb+me") - 4);
}

TEST(MigLayout, TheSitesLayoutsAreTheOnlyOnes) {
  const std::vector<MigLayout> allowed = {{{"3g.71gb", "3g.71gb"}},
                                          {{"1g.18gb", "1g.18gb", "1g.18gb", "4g.71gb"}}};
  EXPECT_EQ(Found({{"1g.18gb", 7}}, allowed), "1 x 4g.71gb and 3 x 1g.18gb");
  EXPECT_EQ(Found({{"3g.71gb", 1}}, allowed), "2 x 3g.71gb");
  EXPECT_EQ(Found({{"2g.35gb", 1}}, allowed), "none");
}

TEST(MigLayout, AProfileThatTheGpuHasNotIsNoLayout) {
  EXPECT_EQ(Found({{"1g.10gb", 1}}), "none");
  EXPECT_EQ(Found({}), "none");
  EXPECT_FALSE(FindLayout({}, {{"1g.18gb", 1}}, {}).has_value());
}

// Whatever an agent says that a GPU can be.
std::vector<MigProfile> AnyProfiles() {
  std::vector<MigProfile> profiles;
  const int count = *rc::gen::inRange(1, 8);
  for (int i = 0; i < count; ++i) {
    MigProfile profile;
    profile.name = std::to_string(i) + "g.x";
    profile.id = static_cast<std::uint32_t>(i);
    profile.slices = *rc::gen::inRange<std::uint32_t>(1, 8);
    profile.instances = *rc::gen::inRange<std::uint32_t>(1, 9);
    const int places = *rc::gen::inRange(0, 9);
    for (int place = 0; place < places; ++place) {
      const auto start = *rc::gen::inRange<std::uint32_t>(0, 12);
      profile.placements.push_back({start, *rc::gen::inRange<std::uint32_t>(1, 17 - start)});
    }
    profiles.push_back(profile);
  }
  return profiles;
}

TEST(MigLayout, InstancesNeverOverlapAndLieWhereTheirProfilesMay) {
  const bool holds = rc::check([] {
    const std::vector<MigProfile> profiles = AnyProfiles();
    const MigProfile& asked = *rc::gen::elementOf(profiles);
    const auto count = *rc::gen::inRange<std::uint32_t>(1, 9);
    const auto found = FindLayout(profiles, {{asked.name, count}}, {});
    if (!found.has_value()) {
      RC_ASSERT(asked.placements.empty());  // one alone can always be
      return;
    }
    std::map<std::string, std::uint32_t> counts;
    std::uint32_t end = 0;
    std::uint32_t slices = 0;
    std::uint32_t most = 0;
    for (const MigInstance& instance : *found) {
      RC_ASSERT(instance.placement.start >= end);
      end = instance.placement.start + instance.placement.size;
      const auto profile =
          std::find_if(profiles.begin(), profiles.end(), [&](const MigProfile& other) {
            return other.name == instance.profile && other.id == instance.id;
          });
      RC_ASSERT(profile != profiles.end());
      RC_ASSERT(std::find(profile->placements.begin(), profile->placements.end(),
                          instance.placement) != profile->placements.end());
      RC_ASSERT(++counts[instance.profile] <= profile->instances);
      slices += profile->slices;
    }
    for (const MigProfile& profile : profiles) {
      most = std::max(most, profile.slices);
    }
    RC_ASSERT(slices <= most);
    RC_ASSERT(counts[asked.name] >= 1);
    RC_ASSERT(FindLayout(profiles, {{asked.name, count}}, {}) == found);
  });
  EXPECT_TRUE(holds);
}

}  // namespace
}  // namespace muster::core

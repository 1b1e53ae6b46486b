#include "daemon/client/views/sight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::daemon {
namespace {

using core::testing::PolicyWorld;
using ::testing::ElementsAre;

Caller Eve(std::uint8_t hidden, std::vector<std::string> coordinates = {}) {
  Caller caller{Role::kUser, User{54321, 54321, "eve"}};
  caller.powers.hidden = hidden;
  caller.powers.coordinates = std::move(coordinates);
  return caller;
}

constexpr auto kJobs = static_cast<std::uint8_t>(Private::kJobs);

TEST(SightTest, WhatIsNotPrivateIsShownToEverybody) {
  const PolicyWorld world;
  const Sight sight(Eve(kJobs), world.state);
  EXPECT_FALSE(sight.Shows(Private::kJobs, "ada", ""));
  EXPECT_TRUE(sight.Shows(Private::kJobs, "eve", ""));
  EXPECT_TRUE(sight.Shows(Private::kHistory, "ada", ""));
  EXPECT_TRUE(Sight().Shows(Private::kJobs, "ada", ""));
}

TEST(SightTest, ACoordinatorSeesTheAccountAndThoseBelowIt) {
  PolicyWorld world;
  world.Add(PolicyKind::kAccount, "physics");
  world.Add(PolicyKind::kAccount, "theory", {{"Parent", "physics"}});
  world.Add(PolicyKind::kAccount, "chemistry");
  const Sight sight(Eve(kJobs, {"physics"}), world.state);
  EXPECT_THAT(sight.accounts(), ElementsAre("physics", "theory"));
  EXPECT_TRUE(sight.Shows(Private::kJobs, "ada", "theory"));
  EXPECT_FALSE(sight.Shows(Private::kJobs, "ada", "chemistry"));
  EXPECT_FALSE(sight.Shows(Private::kJobs, "ada", ""));
}

TEST(SightTest, WhatCannotBeToldApartByUserIsRefusedWhereItIsPrivate) {
  EXPECT_TRUE(CheckShown(Eve(kJobs), {Private::kNodes}, "it is").ok());
  const absl::Status refused = CheckShown(Eve(kJobs), {Private::kNodes, Private::kJobs}, "it is");
  EXPECT_TRUE(absl::IsPermissionDenied(refused));
  EXPECT_EQ(refused.message(), "it is for operators and viewers alone here ([access] private)");
}

}  // namespace
}  // namespace muster::daemon

#include "agent/supervisor/attempt/limit_set.h"

#include <gtest/gtest.h>

namespace muster::agent {
namespace {

LimitSet Below(const std::string& offered, const std::string& enabled,
               const std::string& refusal = "") {
  return LimitsBelow(
      {.group = "/sys/fs/cgroup/m", .offered = offered, .enabled = enabled, .refusal = refusal});
}

TEST(LimitSetTest, WhatIsEnabledIsHeldAndIoIsNotMissed) {
  EXPECT_EQ(ToText(Below("cpuset cpu io memory pids", "cpuset memory pids\n")),
            "cpuset, memory, pids");
  EXPECT_EQ(ToText(Below("cpuset cpu io memory pids", "cpuset io memory pids\n")),
            "cpuset, memory, pids, io");
}

TEST(LimitSetTest, AGroupThatOffersNoneSaysSoOnce) {
  const LimitSet limits = Below("", "");
  EXPECT_EQ(ToText(limits),
            "not enforced (the control group /sys/fs/cgroup/m offers no controllers)");
  EXPECT_FALSE(limits.Holds("memory"));
}

TEST(LimitSetTest, AGroupWhoseOnlyControllerIsRefusedOffersTheOthersNot) {
  EXPECT_EQ(
      ToText(Below("memory", "", "somebody is in it")),
      "not enforced (the control group /sys/fs/cgroup/m does not offer it; somebody is in it)");
}

TEST(LimitSetTest, EachThatIsMissingHasItsOwnReason) {
  EXPECT_EQ(ToText(Below("cpuset pids", "pids", "cgroup.subtree_control: busy")),
            "pids; not cpuset (cgroup.subtree_control: busy), memory (the control group "
            "/sys/fs/cgroup/m does not offer it)");
}

TEST(LimitSetTest, WhatIsMissingForOneReasonStandsTogether) {
  EXPECT_EQ(ToText(Below("memory", "memory")),
            "memory; not cpuset, pids (the control group /sys/fs/cgroup/m does not offer it)");
}

TEST(LimitSetTest, NoLimitsAreNotEnforcedForTheReasonGiven) {
  LimitSet limits = NoLimits("no cgroup v2 is mounted");
  limits.missing.push_back({"devices", "no control groups"});
  EXPECT_EQ(ToText(limits), "not enforced (no cgroup v2 is mounted; no control groups)");
}

TEST(LimitSetTest, WithItsValueALimitIsHeldAllTheSame) {
  LimitSet limits;
  limits.held = {"cpuset 0-3", "pids"};
  EXPECT_TRUE(limits.Holds("cpuset"));
  EXPECT_TRUE(limits.Holds("pids"));
  EXPECT_FALSE(limits.Holds("cpu"));
}

}  // namespace
}  // namespace muster::agent

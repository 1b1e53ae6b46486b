#include "agent/user_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "agent/attempts/attempt_cgroups.h"
#include "agent/supervisor/user_space/as_user.h"
#include "scheduler/runtime/cgroup/cgroup_tree.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

constexpr uid_t kUid = 61001;

TEST(UserGroups, WithoutControlGroupsThereIsNone) {
  UserGroups none(AttemptCgroups(), NodeLimits(), Bytes(1 << 30));
  EXPECT_EQ(none.For(kUid), "");
}

TEST(UserGroups, WhatIsStartedAsAUserIsInAGroupOfItsOwnWithLimits) {
  const absl::StatusOr<AttemptCgroups> groups =
      AttemptCgroups::Make(absl::StrCat("unit-test-users-", getpid()), "");
  if (geteuid() != 0 || !groups.ok()) {
    GTEST_SKIP() << "SKIPPED: no control group can be made here: " << groups.status().message();
  }
  NodeLimits limits;
  static_cast<LimitSet&>(limits) = groups->limits();
  {
    UserGroups users(*groups, limits, Bytes(std::uint64_t{64} << 30));
    const std::string group = users.For(kUid);
    EXPECT_EQ(group, groups->PathFor(absl::StrCat("ahead.", kUid, "/work")));
    EXPECT_EQ(users.For(kUid), group) << "while it is there";
    if (limits.Holds("memory")) {
      EXPECT_EQ(ReadCgroupFile(groups->PathFor(absl::StrCat("ahead.", kUid)), "memory.max"),
                absl::StrCat(std::uint64_t{8} << 30));
    }
    if (limits.Holds("pids")) {
      EXPECT_EQ(ReadCgroupFile(groups->PathFor(absl::StrCat("ahead.", kUid)), "pids.max"), "4096");
    }
    JobUser user = {.uid = kUid, .gid = kUid, .groups = {kUid}, .name = "61001"};
    user.cgroup = group;
    const absl::StatusOr<Brought> brought =
        RunAsUser(&user, Duration(10000), []() -> absl::StatusOr<Brought> {
          return Brought{.descriptors = {}, .text = ReadFile("/proc/self/cgroup").value_or("")};
        });
    ASSERT_TRUE(brought.ok()) << brought.status();
    EXPECT_THAT(brought->text, ::testing::HasSubstr(absl::StrCat("/ahead.", kUid, "/work")));
    users.For(kUid + 1);
    EXPECT_EQ(access(group.c_str(), F_OK), -1) << "nothing lives there any more";
  }
  RemoveCgroup(groups->PathFor(absl::StrCat("ahead.", kUid + 1)));
  groups->RemoveIfEmpty();
}

TEST(UserGroups, AChildThatCannotEnterItsGroupDoesNothing) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "SKIPPED: only root becomes another user";
  }
  JobUser user = {.uid = kUid, .gid = kUid, .groups = {kUid}, .name = "61001"};
  user.cgroup = "/nonexistent/group";
  const absl::StatusOr<Brought> brought =
      RunAsUser(&user, Duration(10000), []() -> absl::StatusOr<Brought> { return BringValue(1); });
  EXPECT_FALSE(brought.ok());
}

}  // namespace
}  // namespace muster::agent

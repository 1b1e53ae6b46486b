#include "agent/attempt_cgroups.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(AttemptCgroupsTest, TheMountIsTheOneOfVersionTwo) {
  EXPECT_EQ(CgroupMount("tmpfs /sys/fs/cgroup tmpfs rw 0 0\n"
                        "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n"
                        "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n"),
            "/sys/fs/cgroup/unified");
  EXPECT_EQ(CgroupMount("tmpfs /sys/fs/cgroup tmpfs rw 0 0\n"), "");
}

TEST(AttemptCgroupsTest, OurGroupIsTheOneOfHierarchyZero) {
  EXPECT_EQ(OwnCgroup("4:memory:/deep\n0::/user.slice/session-1.scope\n"),
            "/user.slice/session-1.scope");
  EXPECT_EQ(OwnCgroup("0::/\n"), "/");
  EXPECT_EQ(OwnCgroup("4:memory:/deep\n"), "");
}

TEST(AttemptCgroupsTest, TheGroupIntoWhichDaemonsStepAsideStandsForTheOneThatTheyLeft) {
  EXPECT_EQ(OwnCgroup("0::/user.slice/run-1.scope/muster-daemons\n"), "/user.slice/run-1.scope");
  EXPECT_EQ(OwnCgroup("0::/muster-daemons\n"), "/");
  EXPECT_EQ(OwnCgroup("0::/not-muster-daemons\n"), "/not-muster-daemons");
}

TEST(AttemptCgroupsTest, ARootThatIsNoGroupIsRefusedInOneLine) {
  const absl::Status root = CheckCgroupRoot("/tmp");
  EXPECT_EQ(root.message(),
            "/tmp is not a group of a cgroup v2 tree: name a directory like /sys/fs/cgroup/muster");
}

TEST(AttemptCgroupsTest, WhereThereAreNoneEveryPathIsEmpty) {
  EXPECT_EQ(AttemptCgroups().PathFor("1.1"), "");
  EXPECT_EQ(ToText(AttemptCgroups().limits()), "not enforced (no control groups)");
}

}  // namespace
}  // namespace muster

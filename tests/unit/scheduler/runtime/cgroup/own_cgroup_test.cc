#include "scheduler/runtime/cgroup/own_cgroup.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(OwnCgroupTest, TheMountIsTheOneOfVersionTwo) {
  EXPECT_EQ(CgroupMount("tmpfs /sys/fs/cgroup tmpfs rw 0 0\n"
                        "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n"
                        "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n"),
            "/sys/fs/cgroup/unified");
  EXPECT_EQ(CgroupMount("tmpfs /sys/fs/cgroup tmpfs rw 0 0\n"), "");
}

TEST(OwnCgroupTest, OurGroupIsTheOneOfHierarchyZero) {
  EXPECT_EQ(OwnCgroup("4:memory:/deep\n0::/user.slice/session-1.scope\n"),
            "/user.slice/session-1.scope");
  EXPECT_EQ(OwnCgroup("0::/\n"), "/");
  EXPECT_EQ(OwnCgroup("4:memory:/deep\n"), "");
}

TEST(OwnCgroupTest, TheGroupIntoWhichDaemonsStepAsideStandsForTheOneThatTheyLeft) {
  EXPECT_EQ(OwnCgroup("0::/user.slice/run-1.scope/muster-daemons\n"), "/user.slice/run-1.scope");
  EXPECT_EQ(OwnCgroup("0::/muster-daemons\n"), "/");
  EXPECT_EQ(OwnCgroup("0::/not-muster-daemons\n"), "/not-muster-daemons");
}

}  // namespace
}  // namespace muster

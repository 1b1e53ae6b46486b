#include "agent/attempt_cgroups.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/supervisor/cgroup_tree.h"

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

// A group below which no process can live in a group of its own: one of its children has threads of
// its own kind.
TEST(AttemptCgroupsTest, AThreadedGroupIsNoPlaceForJobs) {
  const absl::StatusOr<AttemptCgroups> here =
      AttemptCgroups::Make("unit-test-threads-" + std::to_string(getpid()), "");
  if (!here.ok()) {
    GTEST_SKIP() << "SKIPPED: no control group can be made here: " << here.status().message();
  }
  const std::string group = here->PathFor("threaded");
  ASSERT_EQ(mkdir(group.c_str(), 0755), 0);
  ASSERT_EQ(mkdir((group + "/child").c_str(), 0755), 0);
  ASSERT_TRUE(WriteCgroupFile(group + "/child", "cgroup.type", "threaded").ok());
  const absl::StatusOr<AttemptCgroups> below = AttemptCgroups::Make("x", group);
  EXPECT_EQ(below.status().message(), "the control group " + group +
                                          "/muster-x is of type \"domain invalid\", in which no "
                                          "process can live: give jobs another --cgroup-root");
  RemoveCgroup(here->PathFor(""));
}

TEST(AttemptCgroupsTest, WhereThereAreNoneEveryPathIsEmpty) {
  EXPECT_EQ(AttemptCgroups().PathFor("1.1"), "");
  EXPECT_EQ(ToText(AttemptCgroups().limits()), "not enforced (no control groups)");
}

}  // namespace
}  // namespace muster

#include "agent/attempts/attempt_cgroups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "scheduler/runtime/cgroup/cgroup_tree.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

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

// Installed, our programs share their directory with the shell that started us.
TEST(AttemptCgroupsTest, AShellBesideOurProgramsIsNotMovedWithThem) {
  const absl::StatusOr<AttemptCgroups> here =
      AttemptCgroups::Make("unit-test-shell-" + std::to_string(getpid()), "");
  if (!here.ok() || !here->limits().Holds("memory")) {
    GTEST_SKIP() << "SKIPPED: nothing can be held below a control group here: "
                 << (here.ok() ? ToText(here->limits()) : std::string(here.status().message()));
  }
  const std::string group = here->PathFor("shell");
  ASSERT_EQ(mkdir(group.c_str(), 0755), 0);
  const std::string beside =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "beside-our-programs";
  std::filesystem::copy_file("/bin/sleep", beside,
                             std::filesystem::copy_options::overwrite_existing);
  const pid_t shell = fork();
  if (shell == 0) {
    WriteCgroupFile(group, "cgroup.procs", "0").IgnoreError();
    execl(beside.c_str(), "sleep", "1000", nullptr);
    _exit(1);
  }
  const std::string program = "/proc/" + std::to_string(shell) + "/exe";
  while (std::filesystem::read_symlink(program) != beside) {  // until then it is one of ours
    usleep(1000);
  }
  const absl::StatusOr<AttemptCgroups> below = AttemptCgroups::Make("x", group);
  EXPECT_THAT(ToText(below->limits()),
              HasSubstr("processes that are not Muster's (pid " + std::to_string(shell) + ")"));
  kill(shell, SIGKILL);
  waitpid(shell, nullptr, 0);
  std::filesystem::remove(beside);
  RemoveCgroup(here->PathFor(""));
}

TEST(AttemptCgroupsTest, WhereThereAreNoneEveryPathIsEmpty) {
  EXPECT_EQ(AttemptCgroups().PathFor("1.1"), "");
  EXPECT_EQ(ToText(AttemptCgroups().limits()), "not enforced (no control groups)");
}

}  // namespace
}  // namespace muster::agent

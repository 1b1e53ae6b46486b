// Control groups of the real kernel: children born in them, what they may open, their end.
// Memory, cores and processes are limited where the kernel has controllers for it:
// tests/integration/limits_test.py.

#include "agent/supervisor/limits/cgroup.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "agent/attempts/attempt_cgroups.h"
#include "agent/supervisor/launch/launch.h"
#include "agent/supervisor/limits/device_filter.h"
#include "scheduler/runtime/cgroup/cgroup_tree.h"
#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(CgroupTree, HugePagesAreHeldOnlyWhereMemoryIs) {
  const TempDirectory group;
  const auto offer = [&group](const std::string& controllers) {
    std::ofstream(group / "cgroup.controllers") << controllers << "\n";
    std::ofstream(group / "cgroup.subtree_control") << "\n";
  };
  offer("hugetlb");  // beside cgroup v1, which has the others
  EXPECT_TRUE(PassesAllOn(group.path()));
  offer("memory hugetlb");
  EXPECT_FALSE(PassesAllOn(group.path()));
  std::ofstream(group / "cgroup.subtree_control") << "memory\n";
  EXPECT_FALSE(PassesAllOn(group.path()));
  std::ofstream(group / "cgroup.subtree_control") << "memory hugetlb\n";
  EXPECT_TRUE(PassesAllOn(group.path()));
}

class CgroupTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const absl::StatusOr<AttemptCgroups> groups =
        AttemptCgroups::Make("unit-test-" + std::to_string(getpid()), "");
    if (!groups.ok()) {
      GTEST_SKIP() << "SKIPPED: no control group can be made here, so none is tested: "
                   << groups.status().message();
    }
    groups_ = *groups;
    group_ = AttemptCgroup::Make(groups_.PathFor("7.1"));
    ASSERT_TRUE(group_.has_value());
  }
  void TearDown() override {
    KillCgroup(groups_.PathFor("7.1"));
    while (waitpid(-1, nullptr, 0) > 0) {
    }
    AwaitPopulated(false);  // of what is not our child
    RemoveCgroup(groups_.PathFor("7.1"));
    groups_.RemoveIfEmpty();
  }

  // Starts `script` in the group; its output goes to the file "out".
  pid_t Start(const AttemptCgroup& group, const std::string& script, bool born_there = true) {
    const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
    const std::string out = work_ / "out";
    const UniqueFd output(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    LaunchRequest request;
    request.programs = {"/bin/sh"};
    request.arguments = {"sh", "-c", script};
    request.environment = {"PATH=/usr/bin:/bin"};
    request.work_dir = work_.path();
    request.standard_input = null.get();
    request.standard_output = output.get();
    request.standard_error = output.get();
    request.cgroup = group.procs();
    request.cgroup_directory = born_there ? group.directory_fd() : -1;
    absl::StatusOr<LaunchedChild> child = Launch(request);
    EXPECT_TRUE(child.ok()) << child.status();
    return child.ok() ? child->pid : 0;
  }
  std::string Run(const AttemptCgroup& group, const std::string& script, bool born_there = true) {
    waitpid(Start(group, script, born_there), nullptr, 0);
    return ReadFile(work_ / "out").value_or("");
  }

  void AwaitPopulated(bool populated) {
    const bool made = group_.has_value();
    for (int i = 0; i < 2000 && made && group_->Populated() != populated; ++i) {
      usleep(5000);
    }
    EXPECT_TRUE(!made || group_->Populated() == populated);
  }

  TempDirectory work_;
  AttemptCgroups groups_;
  std::optional<AttemptCgroup> group_;
};

TEST_F(CgroupTest, ARankIsInItsStepsGroupHoweverItGotThere) {
  const std::optional<AttemptCgroup> step = group_->MakeStep("step.3", {}, {});
  ASSERT_TRUE(step.has_value());
  EXPECT_THAT(Run(*step, "grep ^0:: /proc/self/cgroup"), EndsWith("/7.1/step.3\n"));
  EXPECT_THAT(Run(*step, "grep ^0:: /proc/self/cgroup", /*born_there=*/false),
              EndsWith("/7.1/step.3\n"));
}

TEST_F(CgroupTest, ARankIsBornInItsGroup) {
  const std::optional<AttemptCgroup> step = group_->MakeStep("step.1", {}, {});
  ASSERT_TRUE(step.has_value());
  const pid_t pid = Start(*step, "sleep 1000");
  // At once: one that enters by itself has not come to it yet.
  EXPECT_THAT(ReadFile("/proc/" + std::to_string(pid) + "/cgroup").value_or(""),
              HasSubstr("/7.1/step.1\n"));
}

TEST_F(CgroupTest, ItsEndTakesAllStepsAndWhatTheyDetached) {
  const std::optional<AttemptCgroup> one = group_->MakeStep("step.1", {}, {});
  const std::optional<AttemptCgroup> two = group_->MakeStep("step.2", {}, {});
  ASSERT_TRUE(one.has_value() && two.has_value());
  Start(*one, "setsid sleep 1000 & sleep 1000");
  const pid_t other = Start(*two, "sleep 1000");
  AwaitPopulated(true);
  EXPECT_TRUE(group_->Kill());
  waitpid(other, nullptr, 0);
  AwaitPopulated(false);
}

TEST_F(CgroupTest, GroupsThatAJobMadeInItsOwnGoWithIt) {
  const std::string path = groups_.PathFor("7.1");
  ASSERT_TRUE(group_->MakeStep("step.1", {}, {}).has_value());
  ASSERT_EQ(mkdir((path + "/step.1/nested").c_str(), 0755), 0);
  ASSERT_EQ(mkdir((path + "/step.1/nested/deeper").c_str(), 0755), 0);
  group_->Remove();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(CgroupTest, WhatLivesInAGroupKeepsIt) {
  Start(*group_, "sleep 1000");
  AwaitPopulated(true);
  group_->Remove();
  EXPECT_TRUE(std::filesystem::exists(groups_.PathFor("7.1")));
}

// /dev/zero stands for a GPU: it can be opened on any machine.
class DeviceFilterTest : public CgroupTest {
 protected:
  void SetUp() override {
    CgroupTest::SetUp();
    const absl::Status can = CheckDeviceFilter();
    if (!IsSkipped() && !can.ok()) {
      GTEST_SKIP() << "SKIPPED: devices are not restricted here: " << can.message();
    }
    order_.limits.held = {"devices"};
    order_.limits.devices = {{1, 5, 5, {0}}};
  }
  SupervisorOrder order_;
};

constexpr const char* kOpen =
    "head -c 1 /dev/zero >/dev/null || exit; echo opened; setsid head -c 1 /dev/zero | od -An -tx1";

TEST_F(DeviceFilterTest, ADeviceOfAGpuThatIsNotTheJobsCannotBeOpened) {
  const LimitSet held = group_->Hold(order_, NodeAllocation());
  EXPECT_EQ(ToText(held), "devices no GPU");
  const std::optional<AttemptCgroup> step = group_->MakeStep("step.1", {}, {});
  EXPECT_THAT(Run(*step, kOpen), HasSubstr("Operation not permitted"));
  EXPECT_EQ(Run(*step, "head -c 1 /dev/null && head -c 1 /dev/random | wc -c"), "1\n");
}

TEST_F(DeviceFilterTest, ADeviceOfItsOwnGpuCan) {
  NodeAllocation part;
  part.gpus = {{.gpu = 0}};
  EXPECT_EQ(ToText(group_->Hold(order_, part)), "devices GPU 0");
  const std::optional<AttemptCgroup> step = group_->MakeStep("step.1", {}, {});
  EXPECT_EQ(Run(*step, kOpen), "opened\n 00\n");
}

}  // namespace
}  // namespace muster::agent

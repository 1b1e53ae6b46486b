// What a group is held to, and what its files must say for it. The kernel's own files are written
// where it has them: tests/integration/limits_test.py.

#include "agent/supervisor/limits/group_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "agent/supervisor/limits/cgroup.h"
#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Bytes kMemory{std::uint64_t{512} << 20};

NodeAllocation Part() {
  NodeAllocation part;
  part.cpus = CpuSet::Of({0, 1, 8, 9});
  part.mem_nodes = NumaSet::Of({0});
  part.memory = kMemory;
  return part;
}

NodeLimits Node(const std::vector<std::string>& held) {
  NodeLimits limits;
  limits.held = held;
  limits.pids = 100;
  return limits;
}

std::vector<std::string> Lines(const GroupLimits& limits) {
  std::vector<std::string> lines;
  for (const LimitFile& file : LimitFiles(limits)) {
    lines.push_back(file.file + "=" + file.value);
  }
  return lines;
}

TEST(GroupLimitsTest, AnAttemptIsHeldToItsPartOfTheNode) {
  EXPECT_THAT(Lines(AttemptLimits(Node({}), Part())),
              ElementsAre("cpuset.cpus=0-1,8-9", "cpuset.mems=0", "memory.max=536870912",
                          "memory.swap.max=0", "memory.oom.group=1", "pids.max=100",
                          "io.weight=default 400"));
}

TEST(GroupLimitsTest, ItIsSlowedBelowItsMemoryOnlyWhereThatIsAskedFor) {
  NodeLimits node = Node({});
  node.memory_high = 90;
  EXPECT_EQ(AttemptLimits(node, Part()).memory_high.value(), kMemory.value() / 100 * 90);
  EXPECT_THAT(Lines(AttemptLimits(node, Part())), ::testing::Contains("memory.high=483183810"));
}

TEST(GroupLimitsTest, OfEachPoolOfHugePagesItGetsWhatItAskedFor) {
  NodeLimits node = Node({});
  node.huge_pages = {"hugepages-1G", "hugepages-2M"};
  NodeAllocation part = Part();
  part.gres = {{"hugepages-2M", 512}};
  EXPECT_THAT(
      Lines(AttemptLimits(node, part)),
      ::testing::IsSupersetOf({"hugetlb.1GB.rsvd.max=0", "hugetlb.1GB.max=0",
                               "hugetlb.2MB.rsvd.max=1073741824", "hugetlb.2MB.max=1073741824"}));
}

TEST(GroupLimitsTest, WhatThePlanDoesNotGiveIsNotLimited) {
  NodeLimits node = Node({});
  node.pids = 0;
  EXPECT_THAT(Lines(AttemptLimits(node, NodeAllocation())), ElementsAre("io.weight=default 100"));
}

TEST(GroupLimitsTest, AStepHasItsOwnCoresAndTheMemoryOfAll) {
  EXPECT_THAT(Lines(StepLimits(Part(), Part())),
              ElementsAre("cpuset.cpus=0-1,8-9", "cpuset.mems=0"));
}

TEST(GroupLimitsTest, AStepThatAskedForMemoryIsHeldToIt) {
  NodeAllocation step = Part();
  step.memory = Bytes(64 << 20);
  EXPECT_THAT(Lines(StepLimits(step, Part())), Contains("memory.max=67108864"));
}

TEST(GroupLimitsTest, OnlyTheKernelsOwnWordAgrees) {
  const LimitFile cpus{"cpuset", "cpuset.cpus", "0-3", "cpuset.cpus.effective"};
  EXPECT_TRUE(Agrees(cpus, "0,1,2-3"));
  EXPECT_FALSE(Agrees(cpus, "0-2"));
  EXPECT_FALSE(Agrees(cpus, ""));
  const LimitFile memory{"memory", "memory.max", "1000000", "memory.max"};
  EXPECT_TRUE(Agrees(memory, "999424"));  // in whole pages
  EXPECT_FALSE(Agrees(memory, "1003520"));
  EXPECT_FALSE(Agrees(memory, "max"));
  const LimitFile pids{"pids", "pids.max", "100", "pids.max"};
  EXPECT_TRUE(Agrees(pids, "100"));
  EXPECT_FALSE(Agrees(pids, "99"));
  const LimitFile weight{"io", "io.weight", "default 400", "io.weight"};
  EXPECT_TRUE(Agrees(weight, "default 400\n8:0 50"));
  EXPECT_FALSE(Agrees(weight, "default 100"));
}

// A directory of plain files, which take what is written and say it again.
class HoldToTest : public ::testing::Test {
 protected:
  void Make(const std::vector<std::string>& files) {
    for (const std::string& file : files) {
      std::ofstream(group_ / file) << "";
    }
  }
  std::string Read(const std::string& file) { return ReadFile(group_ / file).value_or("none"); }
  TempDirectory group_;
};

TEST_F(HoldToTest, WhatWasWrittenAndReadBackIsHeldWithItsValue) {
  Make({"memory.max", "memory.swap.max", "memory.oom.group", "pids.max"});
  const LimitSet held =
      HoldTo(group_.path(), AttemptLimits(Node({}), Part()), Node({"memory", "pids"}));
  EXPECT_EQ(ToText(held), "memory 512 MiB, pids 100");
  EXPECT_EQ(Read("memory.max"), "536870912");
  EXPECT_EQ(Read("memory.swap.max"), "0");
  EXPECT_EQ(Read("memory.oom.group"), "1");
  EXPECT_EQ(Read("pids.max"), "100");
}

TEST_F(HoldToTest, WhatTheNodeDoesNotPromiseIsNotTried) {
  Make({"memory.max", "memory.oom.group", "pids.max"});
  const LimitSet promised =
      LimitsBelow({.group = "/g", .offered = "pids", .enabled = "pids", .refusal = ""});
  EXPECT_EQ(ToText(HoldTo(group_.path(), AttemptLimits(Node({}), Part()), promised)),
            "pids 100; not cpuset, memory (the control group /g does not offer it)");
  EXPECT_EQ(Read("memory.max"), "");
}

TEST_F(HoldToTest, AKernelWithoutSwapAccountsIsNoObstacle) {
  Make({"memory.max", "memory.oom.group"});
  EXPECT_EQ(ToText(HoldTo(group_.path(), AttemptLimits(Node({}), Part()), Node({"memory"}))),
            "memory 512 MiB");
}

TEST_F(HoldToTest, WhatTheKernelRefusesOrAltersIsSaid) {
  Make({"cpuset.cpus", "cpuset.cpus.effective", "pids.max"});
  const LimitSet held =
      HoldTo(group_.path(), AttemptLimits(Node({}), Part()), Node({"cpuset", "memory", "pids"}));
  EXPECT_THAT(held.held, ElementsAre("pids 100"));
  ASSERT_EQ(held.missing.size(), 2U);
  EXPECT_EQ(held.missing[0].why, "cpuset.cpus.effective is \"\", not \"0-1,8-9\"");
  EXPECT_THAT(held.missing[1].why, HasSubstr("memory.max: No such file or directory"));
}

TEST(OutOfMemoryTest, ItIsToldWithThePeakAndTheLimit) {
  EXPECT_EQ(OutOfMemoryText("low 0\nhigh 0\nmax 9\noom 1\noom_kill 2\n",
                            "low 0\nhigh 0\nmax 9\noom 1\noom_kill 2\n", "268435456", "268435456"),
            "out of memory: it reached its limit of 256 MiB; at its peak it had 256 MiB");
}

TEST(OutOfMemoryTest, AnOlderKernelKnowsNoPeak) {
  EXPECT_EQ(OutOfMemoryText("oom 1\noom_kill 1\n", "oom 1\noom_kill 1\n", "268435456", ""),
            "out of memory: it reached its limit of 256 MiB");
}

TEST(OutOfMemoryTest, ANodeThatRanOutIsNotTheJobsLimit) {
  EXPECT_EQ(OutOfMemoryText("oom 0\noom_kill 1\n", "oom 0\noom_kill 1\n", "268435456", "1048576"),
            "out of memory: the node had none left; at its peak it had 1 MiB of its 256 MiB");
  EXPECT_EQ(OutOfMemoryText("oom 0\noom_kill 1\n", "oom 0\noom_kill 1\n", "max", ""),
            "out of memory: the node had none left");
}

TEST(OutOfMemoryTest, AStepsOwnLimitIsNotTheJobs) {
  EXPECT_EQ(OutOfMemoryText("oom 1\noom_kill 1\n", "oom 0\noom_kill 0\n", "268435456", "1048576"),
            "out of memory: a step reached its own limit; at its peak it had 1 MiB");
  EXPECT_EQ(OutOfMemoryText("oom 1\noom_kill 1\n", "", "268435456", ""),
            "out of memory: it reached its limit of 256 MiB");
}

TEST(OutOfMemoryTest, WithoutAKillThereIsNothingToTell) {
  EXPECT_EQ(OutOfMemoryText("oom 3\noom_kill 0\n", "oom 3\noom_kill 0\n", "268435456", "268435456"),
            std::nullopt);
  EXPECT_EQ(OutOfMemoryText("", "", "", ""), std::nullopt);
}

}  // namespace
}  // namespace muster::agent

#include "agent/node/counters/group_counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

namespace muster::agent {
namespace {

// What every kernel counts: nanoseconds of CPU time and page faults.
constexpr std::array<PerfEvent, 2> kOfEveryKernel = {
    PerfEvent{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    PerfEvent{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS}};

CpuSet OwnCpus() {
  cpu_set_t own;
  sched_getaffinity(0, sizeof own, &own);
  CpuSet cpus;
  for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &own)) {
      cpus.Insert(cpu);
    }
  }
  return cpus;
}

// A group of this test's own, where it may make one.
class Group {
 public:
  Group() {
    for (const char* root : {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"}) {
      const std::string path = std::string(root) + "/muster-counters-" + std::to_string(getpid());
      std::error_code none;
      if (std::filesystem::exists(std::string(root) + "/cgroup.procs") &&
          std::filesystem::create_directory(path, none)) {
        path_ = path;
        return;
      }
    }
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() {
    if (!path_.empty()) {
      rmdir(path_.c_str());
    }
  }
  [[nodiscard]] const std::string& path() const { return path_; }

  // Runs a child in it, which works for a tenth of a second.
  void Work() const {
    const pid_t child = fork();
    if (child == 0) {
      std::ofstream(path_ + "/cgroup.procs") << getpid() << std::flush;
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
      while (std::chrono::steady_clock::now() < end) {
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
  }

 private:
  std::string path_;
};

TEST(GroupCounters, CountsTheGroupAloneAndEverythingInIt) {
  const Group group;
  if (group.path().empty()) {
    GTEST_SKIP() << "no cgroup v2 tree in which this test may make a group";
  }
  const auto counters = GroupCounters::Open(group.path(), OwnCpus(), kOfEveryKernel);
  if (!counters.ok()) {
    GTEST_SKIP() << "this kernel refuses performance events: " << counters.status();
  }
  const auto none = counters->Read();
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_EQ((*none)[0], 0U) << "this test works, but not in the group";
  group.Work();
  const auto first = counters->Read();
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_GT((*first)[0], 10'000'000U) << "nanoseconds";
  EXPECT_GT((*first)[1], 0U) << "page faults";
  group.Work();
  EXPECT_GT((*counters->Read())[0], (*first)[0]) << "what has ended still counts";
}

TEST(GroupCounters, WhatCannotBeCountedIsAnError) {
  EXPECT_THAT(GroupCounters::Open("/no/such/group", OwnCpus(), kOfEveryKernel).status().ToString(),
              ::testing::HasSubstr("cannot open /no/such/group"));
  const Group group;
  if (group.path().empty()) {
    GTEST_SKIP() << "no cgroup v2 tree in which this test may make a group";
  }
  EXPECT_THAT(GroupCounters::Open(group.path(), CpuSet(), kOfEveryKernel).status().ToString(),
              ::testing::HasSubstr("no CPUs"));
  EXPECT_FALSE(GroupCounters::Open(group.path(), OwnCpus(), {PerfEvent{99, 0}, {}}).ok());
}

TEST(GroupCounters, TheProcessorsOwnCountersAreReadWhereTheMachineShowsThem) {
  const Group group;
  if (group.path().empty()) {
    GTEST_SKIP() << "no cgroup v2 tree in which this test may make a group";
  }
  const auto counters = GroupCounters::Open(group.path(), OwnCpus(), MemoryEvents());
  if (!counters.ok()) {
    GTEST_SKIP() << "this machine hides its processors' counters: " << counters.status();
  }
  group.Work();
  const auto counted = counters->Read();
  ASSERT_TRUE(counted.ok()) << counted.status();
  EXPECT_GT((*counted)[0], 1'000'000U);
}

}  // namespace
}  // namespace muster::agent

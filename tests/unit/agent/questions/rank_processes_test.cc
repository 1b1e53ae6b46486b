#include "agent/questions/rank_processes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

// A made /proc, and a made group.
class RankProcessesTest : public ::testing::Test {
 protected:
  void Add(int pid, const std::string& environment, int began, int ticks) const {
    const std::string directory = absl::StrCat(proc_.path(), "/", pid);
    std::filesystem::create_directory(directory);
    std::string variables = environment;
    for (char& c : variables) {
      c = c == ' ' ? '\0' : c;
    }
    std::ofstream(directory + "/environ", std::ios::binary) << variables;
    std::ofstream(directory + "/stat") << pid << " (a (b) c) R 1 1 1 0 -1 0 0 0 0 0 " << ticks
                                       << " 0 0 0 20 0 3 0 " << began << " 1000 7 0\n";
    std::ofstream(directory + "/status") << "Name:\ta\nCpus_allowed_list:\t2-3\nMems:\t0\n";
  }
  const AttemptKey key_{JobId(7), AttemptNumber(2)};
  const TempDirectory proc_;
};

TEST_F(RankProcessesTest, ProcessesCountForTheRankThatTheyWereStartedAs) {
  const std::string job = "MUSTER_JOB_ID=7 MUSTER_RESTART_COUNT=1";
  Add(10, job, 50, 100);
  Add(21, job + " MUSTER_STEP_ID=1 MUSTER_PROCID=3", 70, 200);
  Add(20, job + " MUSTER_STEP_ID=1 MUSTER_PROCID=3", 60, 100);
  Add(22, job + " MUSTER_STEP_ID=1 MUSTER_PROCID=4 MUSTER_NODE_NAME=n2", 70,
      200);  // no rank of ours
  Add(30, "MUSTER_JOB_ID=7 MUSTER_RESTART_COUNT=0", 40, 1);
  Add(40, "MUSTER_JOB_ID=77 MUSTER_RESTART_COUNT=1", 40, 1);
  Add(50, "HOME=/root", 40, 1);
  const wire::ProcessAnswer answer = ReadRankProcesses(key_, "n1", "", proc_.path());
  ASSERT_EQ(answer.ranks_size(), 2);
  EXPECT_EQ(answer.ranks(0).step(), 0U);
  EXPECT_EQ(answer.ranks(0).pid(), 10U);
  EXPECT_EQ(answer.ranks(0).command(), "a (b) c");
  const wire::RankProcesses& rank = answer.ranks(1);
  EXPECT_EQ(rank.rank(), 3U);
  EXPECT_EQ(rank.pid(), 20U) << "the first that began";
  EXPECT_EQ(rank.state(), "R");
  EXPECT_EQ(rank.processes(), 2U);
  EXPECT_EQ(rank.threads(), 6U);
  EXPECT_EQ(rank.cpus(), "2-3");
  EXPECT_EQ(rank.cpu_time(), 300 * 1000 / sysconf(_SC_CLK_TCK));
  EXPECT_EQ(rank.memory(), 14U * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
}

TEST_F(RankProcessesTest, WhatARankReadAndSentIsThatOfAllItsProcessesAndUnknownIsNotNothing) {
  const std::string job = "MUSTER_JOB_ID=7 MUSTER_RESTART_COUNT=1 MUSTER_STEP_ID=1 MUSTER_PROCID=";
  for (const int pid : {10, 11, 20}) {
    Add(pid, job + (pid == 20 ? "1" : "0"), pid, 1);
  }
  for (const char* const pid : {"10", "11"}) {
    std::ofstream(proc_ / pid + "/io") << "rchar: 1\nread_bytes: 4096\nwrite_bytes: 512\n";
  }
  std::filesystem::create_directories(proc_ / "self/ns");
  std::filesystem::create_symlink("net:[1]", proc_ / "self/ns/net");
  for (const auto& [pid, name] : {std::pair("10", "net:[1]"), std::pair("20", "net:[2]")}) {
    std::filesystem::create_directories(proc_ / pid + "/ns");
    std::filesystem::create_symlink(name, proc_ / pid + "/ns/net");
  }
  const wire::ProcessAnswer answer = ReadRankProcesses(key_, "n1", "", proc_.path());
  ASSERT_EQ(answer.ranks_size(), 2);
  EXPECT_EQ(answer.ranks(0).read_bytes(), 8192U);
  EXPECT_EQ(answer.ranks(0).written_bytes(), 1024U);
  EXPECT_TRUE(answer.ranks(0).has_sent()) << "no connection is open";
  EXPECT_EQ(answer.ranks(0).sent(), 0U);
  EXPECT_FALSE(answer.ranks(1).has_read_bytes());
  EXPECT_FALSE(answer.ranks(1).has_sent()) << "a network namespace of its own";
}

TEST_F(RankProcessesTest, AGroupsProcessesAloneAreLookedAtWithThoseOfTheGroupsInIt) {
  const std::string job = "MUSTER_JOB_ID=7 MUSTER_RESTART_COUNT=1 MUSTER_STEP_ID=1 MUSTER_PROCID=";
  Add(10, job + "0", 1, 1);
  Add(11, job + "1", 1, 1);
  Add(12, job + "2", 1, 1);
  const TempDirectory group;
  std::filesystem::create_directory(group / "step.1");
  std::ofstream(group / "cgroup.procs") << "10\n";
  std::ofstream(group / "step.1/cgroup.procs") << "11\n999\n";
  const wire::ProcessAnswer answer = ReadRankProcesses(key_, "n1", group.path(), proc_.path());
  ASSERT_EQ(answer.ranks_size(), 2) << "12 is in none of them";
  EXPECT_EQ(answer.ranks(0).pid(), 10U);
  EXPECT_EQ(answer.ranks(1).pid(), 11U);
}

}  // namespace
}  // namespace muster::agent

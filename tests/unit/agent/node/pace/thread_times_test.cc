#include "agent/node/pace/thread_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::IsEmpty;

// A /proc and a /sys/devices/system/cpu of the test's own.
class ThreadTimesTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void AddThread(pid_t process, pid_t thread, const std::string& schedstat) const {
    Write(absl::StrCat(process, "/task/", thread, "/schedstat"), schedstat);
  }
  const TempDirectory root_;
};

TEST_F(ThreadTimesTest, TheThreadsOfAllTheProcessesAreRead) {
  AddThread(10, 10, "1000 500 7\n");
  AddThread(10, 11, "2000 0 1\n");
  AddThread(20, 20, "3000 100 1\n");
  const auto times = ReadThreadTimes({10, 20, 30}, root_.path());
  ASSERT_TRUE(times.has_value());
  ASSERT_EQ(times->size(), 3U);
  EXPECT_EQ(times->at(10).waited_ns, 500);
  EXPECT_EQ(times->at(11).process, 10);
}

TEST_F(ThreadTimesTest, AKernelThatKeepsNoTimesTellsNone) {
  Write("10/task/10/stat", "10 (a) S 1\n");
  EXPECT_EQ(ReadThreadTimes({10}, root_.path()), std::nullopt);
}

TEST_F(ThreadTimesTest, AThreadThatCameMeanwhileCountsFromItsBeginAndOneThatWentDoesNotCount) {
  const ThreadTimes before = {{1, {1000, 100, 1}}, {2, {9000, 900, 1}}, {3, {5000, 0, 1}}};
  const ThreadTimes now = {{1, {4000, 1100, 1}}, {3, {10, 5, 1}}, {4, {6000, 0, 9}}};
  const ThreadChange change = ChangeOf(before, now);
  EXPECT_EQ(change.ran_ns, 3000 + 10 + 6000) << "3 is another than before";
  EXPECT_EQ(change.waited_ns, 1000 + 5);
  EXPECT_EQ(change.busiest, 4);
  EXPECT_EQ(change.process, 9);
  EXPECT_EQ(ChangeOf(now, now).busiest, 0) << "none ran";
}

TEST_F(ThreadTimesTest, AClockIsThatOfTheCpuOnWhichTheThreadRanLast) {
  std::string stat = "11 (a b) R 1 1 1 0 -1 0 0 0 0 0 5 0 0 0 20 0 3 0 7 1000 7";
  for (int field = 22; field < 36; ++field) {
    stat += " 0";
  }
  Write("10/task/11/stat", stat + " 3 0 0 0\n");
  EXPECT_EQ(CpuClockOf(10, 11, root_.path(), root_ / "cpus"), std::nullopt);
  Write("cpus/cpu3/cpufreq/scaling_cur_freq", "2101000\n");
  EXPECT_EQ(CpuClockOf(10, 11, root_.path(), root_ / "cpus"), 2101U);
  EXPECT_EQ(CpuClockOf(10, 12, root_.path(), root_ / "cpus"), std::nullopt) << "no such thread";
}

TEST_F(ThreadTimesTest, WhatTheHostTookIsAShareOfTheTimeOfThoseCpus) {
  Write("stat",
        "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 10 0 0 90 0 0 0 0 0 0\ncpu1 10 0 0 80 0 0 0 10 0 0\n"
        "intr 5\ncpu2 1 1 1 1 1 1 1 1\n");
  const auto before = ReadCpuTicks(root_.path());
  ASSERT_EQ(before.size(), 2U);
  EXPECT_EQ(before.at(1).all, 100);
  Write("stat",
        "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 110 0 0 90 0 0 0 0 0 0\ncpu1 60 0 0 80 0 0 0 60 0 0\n");
  const auto now = ReadCpuTicks(root_.path());
  EXPECT_EQ(StolenOf(CpuSet::Of({0, 1}), before, now), 250U);
  EXPECT_EQ(StolenOf(CpuSet::Of({0}), before, now), 0U);
  EXPECT_EQ(StolenOf(CpuSet::Of({5}), before, now), std::nullopt) << "none of them is known";
  EXPECT_EQ(StolenOf(CpuSet::Of({0}), {}, now), std::nullopt) << "the first look";
  Write("stat", "cpu 1 2 3 4\ncpu0 1 2 3 4\n");
  EXPECT_THAT(ReadCpuTicks(root_.path()), IsEmpty()) << "it does not tell what is stolen";
}

TEST_F(ThreadTimesTest, ThisProcessHasRun) {
  const auto times = ReadThreadTimes({getpid()}, "/proc");
  if (!times.has_value()) {
    GTEST_SKIP() << "this kernel keeps no times of threads";
  }
  EXPECT_GT(times->at(getpid()).ran_ns, 0);
}

}  // namespace
}  // namespace muster::agent

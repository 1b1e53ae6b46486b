#include "agent/node/process_usage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;

struct Times {
  int user = 0;
  int system = 0;
  int children_user = 0;
  int children_system = 0;
  int pages = 0;
};

// A /proc of the test's own.
class Proc {
 public:
  void Add(pid_t pid, pid_t parent, const Times& times, const std::string& name = "sleep") const {
    const std::string path = directory_ / absl::StrCat(pid);
    std::filesystem::create_directories(path);
    std::ofstream(path + "/stat") << absl::StrCat(
        pid, " (", name, ") S ", parent, " 1 1 0 -1 4194304 1 2 3 4 ", times.user, " ",
        times.system, " ", times.children_user, " ", times.children_system,
        " 20 0 1 0 777 1000000 ", times.pages, " 18446744073709551615 1 1 0\n");
  }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name) << text;
  }
  [[nodiscard]] const std::string& root() const { return directory_.path(); }

 private:
  TempDirectory directory_;
};

Duration Ticks(int ticks) {
  return Duration(ticks * 1000 / sysconf(_SC_CLK_TCK));
}

Bytes Pages(int pages) {
  return Bytes(static_cast<std::uint64_t>(pages) *
               static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
}

TEST(ProcessUsage, AllThatDescendsFromARootIsItsOwnAlsoWhatHasEnded) {
  const Proc proc;
  proc.Add(1, 0, {500, 500, 500, 500, 500});
  proc.Add(10, 1, {7, 7, 100, 10, 900});  // the root: what it waited for counts, itself not
  proc.Add(11, 10, {1000, 200, 0, 0, 5}, "a) S (b c");
  proc.Add(12, 11, {30, 40, 3, 4, 8});
  proc.Add(20, 1, {0, 0, 50, 0, 1});
  const auto used = UsageBelow({10, 20, 30}, proc.root());
  ASSERT_THAT(used, ElementsAre(Key(10), Key(20)));
  EXPECT_EQ(used.at(10).user_cpu, Ticks(1133));
  EXPECT_EQ(used.at(10).system_cpu, Ticks(254));
  EXPECT_EQ(used.at(10).group_memory, Pages(13));
  EXPECT_EQ(used.at(10).peak_memory, Pages(8));
  EXPECT_EQ(used.at(20).user_cpu, Ticks(50));
  EXPECT_EQ(used.at(20).group_memory, Bytes(0));
}

TEST(ProcessUsage, AProcessCountsForTheNearestRoot) {
  const Proc proc;
  proc.Add(10, 1, {});
  proc.Add(11, 10, {});
  proc.Add(12, 11, {100, 0, 0, 0, 1});
  const auto used = UsageBelow({10, 11}, proc.root());
  EXPECT_EQ(used.at(11).user_cpu, Ticks(100));
  EXPECT_EQ(used.at(10).user_cpu, Duration(0));
}

TEST(ProcessUsage, WhatIsNoProcessAndWhatCannotBeReadIsLeftOut) {
  const Proc proc;
  proc.Add(10, 1, {});
  proc.Add(11, 12, {5, 5, 5, 5, 5});
  proc.Add(12, 11, {5, 5, 5, 5, 5});  // a ring, as parents that change may look
  proc.Write("13", "");
  std::filesystem::create_directories(proc.root() + "/14");
  proc.Write("14/stat", "14 (x) S 10 1 1");
  std::filesystem::create_directories(proc.root() + "/self");
  EXPECT_THAT(UsageBelow({10}, proc.root()), ElementsAre(Key(10)));
  EXPECT_EQ(UsageBelow({10}, proc.root()).at(10), Usage());
  EXPECT_THAT(UsageBelow({10}, proc.root() + "/nowhere"), IsEmpty());
}

TEST(ProcessUsage, AProcessOfThisMachineIsSeenToWork) {
  const auto parent = getppid();
  const auto used = UsageBelow({parent});
  ASSERT_EQ(used.count(parent), 1U);
  EXPECT_GT(used.at(parent).group_memory.value(), 0U);
  EXPECT_GT(BusyTime(), Duration(0));
}

TEST(ProcessUsage, IdlingAndWaitingAreNotBusy) {
  const Proc proc;
  proc.Write("stat", "cpu  100 20 3 40000 5000 600 70 8 9 10\ncpu0 1 2 3 4 5 6 7\n");
  EXPECT_EQ(BusyTime(proc.root()), Ticks(793));
  proc.Write("stat", "intr 1 2 3\n");
  EXPECT_EQ(BusyTime(proc.root()), Duration(0));
}

}  // namespace
}  // namespace muster::agent

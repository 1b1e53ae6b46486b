#include "agent/node/process_usage.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

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
  void AddIo(pid_t pid, int read, int written) const {
    Write(absl::StrCat(pid, "/io"),
          absl::StrCat("rchar: 1\nwchar: 1\nsyscr: 1\nsyscw: 1\nread_bytes: ", read,
                       "\nwrite_bytes: ", written, "\ncancelled_write_bytes: 7\n"));
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

std::map<pid_t, Usage> Below(const std::set<pid_t>& roots, const std::string& proc = "/proc") {
  return UsageBelow(roots, ReadProcessTable(proc), proc);
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
  const auto used = Below({10, 20, 30}, proc.root());
  ASSERT_THAT(used, ElementsAre(Key(10), Key(20)));
  EXPECT_EQ(used.at(10).user_cpu, Ticks(1133));
  EXPECT_EQ(used.at(10).system_cpu, Ticks(254));
  EXPECT_EQ(used.at(10).group_memory, Pages(13));
  EXPECT_EQ(used.at(10).peak_memory, Pages(8));
  EXPECT_EQ(used.at(10).major_faults, 18U) << "4 of the root's children, 3 and 4 of each below it";
  EXPECT_EQ(used.at(20).user_cpu, Ticks(50));
  EXPECT_EQ(used.at(20).group_memory, Bytes(0));
}

TEST(ProcessUsage, AProcessCountsForTheNearestRoot) {
  const Proc proc;
  proc.Add(10, 1, {});
  proc.Add(11, 10, {});
  proc.Add(12, 11, {100, 0, 0, 0, 1});
  const auto used = Below({10, 11}, proc.root());
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
  EXPECT_THAT(Below({10}, proc.root()), ElementsAre(Key(10)));
  Usage nothing;
  nothing.major_faults = 4;  // of children that have ended
  EXPECT_EQ(Below({10}, proc.root()).at(10), nothing);
  EXPECT_THAT(Below({10}, proc.root() + "/nowhere"), IsEmpty());
}

TEST(ProcessUsage, StorageIsTheRootsTooBecauseItHasThatOfTheChildrenThatEnded) {
  const Proc proc;
  for (const pid_t pid : {10, 11, 12, 20, 21}) {
    proc.Add(pid, pid % 10 == 0 ? 1 : pid - 1, {});
  }
  proc.AddIo(10, 100, 1);
  proc.AddIo(11, 20, 2);
  proc.AddIo(12, 3, 4);
  const auto used = Below({10, 20}, proc.root());
  EXPECT_EQ(used.at(10).read_bytes, Bytes(123));
  EXPECT_EQ(used.at(10).called_bytes, Bytes(3)) << "by each of the three";
  EXPECT_EQ(used.at(10).written_bytes, Bytes(7));
  EXPECT_EQ(used.at(20).read_bytes, std::nullopt) << "a kernel that does not count";
}

TEST(ProcessUsage, HowLongProcessesWaitedIsKnownWhereTheKernelCountsDelays) {
  const Proc proc;
  proc.Add(10, 1, {});
  for (const auto& [pid, ticks] : {std::pair(11, 40), std::pair(12, 70)}) {
    std::filesystem::create_directories(proc.root() + absl::StrCat("/", pid));
    std::string text = absl::StrCat(pid, " (x) D 10");
    for (int field = 5; field <= 41; ++field) {
      absl::StrAppend(&text, field == 25 ? " 18446744073709551615" : " 0");
    }
    proc.Write(absl::StrCat(pid, "/stat"), absl::StrCat(text, " ", ticks, " 0 0"));
  }
  EXPECT_EQ(Below({10}, proc.root()).at(10).io_blocked, std::nullopt);
  std::filesystem::create_directories(proc.root() + "/sys/kernel");
  proc.Write("sys/kernel/task_delayacct", "0\n");
  EXPECT_EQ(Below({10}, proc.root()).at(10).io_blocked, std::nullopt);
  proc.Write("sys/kernel/task_delayacct", "1\n");
  EXPECT_EQ(Below({10}, proc.root()).at(10).io_blocked, Ticks(70))
      << "the longest: both may have waited at once";
}

// Runs `work` in a child of a child, which has ended when this returns; its parent lives on.
class WorkOfAGrandchild {
 public:
  template <class Work>
  explicit WorkOfAGrandchild(Work work) {
    int done[2] = {-1, -1};
    EXPECT_EQ(pipe(done), 0);
    child_ = fork();
    if (child_ == 0) {
      const pid_t grandchild = fork();
      if (grandchild == 0) {
        _exit(work() ? 0 : 1);
      }
      int status = 0;
      waitpid(grandchild, &status, 0);
      const char well = WIFEXITED(status) && WEXITSTATUS(status) == 0 ? '1' : '0';
      static_cast<void>(!write(done[1], &well, 1));
      pause();
    }
    char well = '0';
    EXPECT_EQ(read(done[0], &well, 1), 1);
    EXPECT_EQ(well, '1');
    close(done[0]);
    close(done[1]);
  }
  WorkOfAGrandchild(const WorkOfAGrandchild&) = delete;
  WorkOfAGrandchild& operator=(const WorkOfAGrandchild&) = delete;
  ~WorkOfAGrandchild() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  [[nodiscard]] pid_t parent() const { return child_; }

 private:
  pid_t child_ = -1;
};

TEST(ProcessUsage, WhatARealProcessWroteAndReadBackFromTheDiskIsCountedWhenItHasEnded) {
  if (access("/proc/self/io", R_OK) != 0) {
    GTEST_SKIP() << "this kernel does not count storage";
  }
  constexpr std::size_t kBytes = std::size_t{4} << 20;
  const TempDirectory directory;
  const std::string path = directory / "data";
  const WorkOfAGrandchild work([&] {
    const std::vector<char> block(kBytes, 'x');
    std::vector<char> again(kBytes);
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    return write(fd, block.data(), kBytes) == static_cast<ssize_t>(kBytes) && fsync(fd) == 0 &&
           posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0 &&
           pread(fd, again.data(), kBytes, 0) == static_cast<ssize_t>(kBytes) && again == block;
  });
  struct statfs where = {};
  ASSERT_EQ(statfs(path.c_str(), &where), 0);
  const Usage used = Below({work.parent()}).at(work.parent());
  ASSERT_TRUE(used.read_bytes.has_value());
  if (where.f_type == TMPFS_MAGIC) {
    GTEST_SKIP() << "its files are in memory";
  }
  EXPECT_GE(used.written_bytes, Bytes(kBytes));
  EXPECT_GE(used.read_bytes, Bytes(kBytes));
  EXPECT_LT(used.read_bytes, Bytes(16 * kBytes));
}

TEST(ProcessUsage, AProcessOfThisMachineIsSeenToWork) {
  const auto parent = getppid();
  const auto used = Below({parent});
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

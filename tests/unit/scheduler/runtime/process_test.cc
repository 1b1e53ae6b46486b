#include "scheduler/runtime/process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "absl/strings/str_cat.h"

namespace muster {
namespace {

// A child that waits until killed; the destructor ends and reaps it.
class Sleeper {
 public:
  Sleeper() {
    SpawnRequest request;
    request.program = "/bin/sleep";
    request.arguments = {"sleep", "60"};
    pid_ = Spawn(request).value();
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() {
    if (!reaped_) {
      kill(pid_, SIGKILL);
      Reap();
    }
  }
  pid_t pid() const { return pid_; }
  // Returns the raw wait status.
  int Reap() {
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    reaped_ = true;
    return status;
  }

 private:
  pid_t pid_ = 0;
  bool reaped_ = false;
};

std::string StatLine(const std::string& name) {
  return absl::StrCat("4242 (", name,
                      ") S 17 4242 4242 0 -1 4194560 100 0 0 0 5 6 0 0 20 0 1 0 987654 1 2 3\n");
}

TEST(HideMemory, LeavesAProcessThatNobodyMayRead) {
  const pid_t child = fork();
  if (child == 0) {
    const bool before = prctl(PR_GET_DUMPABLE) == 1;
    HideMemory();
    _exit(before && prctl(PR_GET_DUMPABLE) == 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(ProcessStat, IsParsedPastAnyCommandName) {
  for (const std::string name : {"bash", "a b", "(sd-pam)", ") R 1 1 1", "x\ny", ") S 17 (", ""}) {
    const absl::StatusOr<ProcessStat> stat = ParseProcessStat(StatLine(name));
    ASSERT_TRUE(stat.ok()) << name << ": " << stat.status();
    EXPECT_EQ(stat->state, 'S') << name;
    EXPECT_EQ(stat->parent_pid, 17) << name;
    EXPECT_EQ(stat->start_time_ticks, 987654U) << name;
  }
}

TEST(ProcessStat, WhatIsNotAStatLineIsAnError) {
  for (const std::string text : {"", "1", "1 (x)", "1 (x) ", "1 (x) S 2 3", "1 (x) SS 2 3"}) {
    EXPECT_FALSE(ParseProcessStat(text).ok()) << text;
  }
}

TEST(ProcessIdentity, OfOurselvesIsStableAndAlive) {
  const absl::StatusOr<ProcessIdentity> self = ReadIdentity(getpid());
  ASSERT_TRUE(self.ok()) << self.status();
  EXPECT_EQ(self->boot_id.size(), 36U);
  EXPECT_EQ(*self, ReadIdentity(getpid()).value());
  EXPECT_TRUE(IsAlive(*self).value());
}

TEST(ProcessIdentity, AnotherStartTimeOrBootIsAnotherProcess) {
  ProcessIdentity reused = ReadIdentity(getpid()).value();
  reused.start_time_ticks += 1;
  EXPECT_FALSE(IsAlive(reused).value());
  EXPECT_TRUE(absl::IsNotFound(OpenPidfd(reused).status()));
  ProcessIdentity rebooted = ReadIdentity(getpid()).value();
  rebooted.boot_id = "00000000-0000-0000-0000-000000000000";
  EXPECT_FALSE(IsAlive(rebooted).value());
  EXPECT_TRUE(absl::IsNotFound(OpenPidfd(rebooted).status()));
}

TEST(ProcessIdentity, AZombieIsNotAlive) {
  Sleeper child;
  const ProcessIdentity identity = ReadIdentity(child.pid()).value();
  EXPECT_TRUE(IsAlive(identity).value());
  const UniqueFd pidfd = OpenPidfd(identity).value();
  ASSERT_TRUE(SendSignal(pidfd, SIGKILL).ok());
  pollfd ended = {.fd = pidfd.get(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&ended, 1, 5000), 1) << "a pidfd is readable when its process ends";
  EXPECT_FALSE(IsAlive(identity).value());
  const int status = child.Reap();
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_FALSE(IsAlive(identity).value());
  EXPECT_TRUE(absl::IsNotFound(ReadIdentity(child.pid()).status()));
  EXPECT_TRUE(absl::IsNotFound(SendSignal(pidfd, SIGTERM)));
}

TEST(ProcessIdentity, ThereIsNoProcessZeroOrBelow) {
  EXPECT_TRUE(absl::IsNotFound(ReadIdentity(0).status()));
  EXPECT_TRUE(absl::IsNotFound(ReadIdentity(-1).status()));
}

}  // namespace
}  // namespace muster

#include "agent/supervisor/step/step_restore.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace muster::agent {
namespace {

constexpr pid_t kRestorer = 1000000;  // no process of ours
constexpr int kDone = 0;              // wait status of exit(0)

int Exited(int code) {
  return code << 8;
}

TEST(TakeReaped, TheRestoredProcessIsTheRanksOnceItsRestorerIsDone) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  StepRank rank;
  rank.pid = kRestorer;
  rank.awaited = child;
  int status = kDone;
  const RestoreProgress progress = TakeReaped(&rank, kRestorer, &status);
  EXPECT_TRUE(progress.runs);
  EXPECT_FALSE(progress.ended);
  EXPECT_EQ(rank.pid, child);
  EXPECT_EQ(rank.awaited, 0);
  EXPECT_EQ(rank.started_pid, static_cast<std::uint32_t>(child));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(TakeReaped, AProcessThatIsNoChildOfOursIsNotTaken) {
  StepRank rank;
  rank.pid = kRestorer;
  rank.awaited = 1;
  int status = kDone;
  const RestoreProgress progress = TakeReaped(&rank, kRestorer, &status);
  EXPECT_TRUE(progress.ended);
  EXPECT_FALSE(progress.runs);
  EXPECT_EQ(progress.failure, kNotRestored);
}

TEST(TakeReaped, TheCodeOfARestorerThatFailedIsKept) {
  StepRank rank;
  rank.pid = kRestorer;
  rank.awaited = getppid();
  int status = Exited(5);
  const RestoreProgress progress = TakeReaped(&rank, kRestorer, &status);
  EXPECT_TRUE(progress.ended);
  EXPECT_EQ(progress.failure, 5);
}

TEST(TakeReaped, AProcessThatEndsBeforeItsRestorerHasItsOwnStatus) {
  StepRank rank;
  rank.pid = kRestorer;
  rank.awaited = kRestorer + 1;
  int early = Exited(3);
  EXPECT_FALSE(TakeReaped(&rank, kRestorer + 1, &early).ended);
  int status = kDone;
  const RestoreProgress progress = TakeReaped(&rank, kRestorer, &status);
  EXPECT_TRUE(progress.ended);
  EXPECT_EQ(progress.failure, 0);
  EXPECT_EQ(status, Exited(3));
  EXPECT_TRUE(rank.settled);
}

}  // namespace
}  // namespace muster::agent

#include "scheduler/runtime/program/child_end.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

namespace muster {
namespace {

pid_t ChildThat(void (*ends)()) {
  const pid_t child = fork();
  if (child == 0) {
    ends();
    _exit(0);
  }
  return child;
}

TEST(ChildEnd, ItsStatusIsWhatWaitpidSays) {
  const int exited = AwaitEnd(ChildThat([] { _exit(7); }));
  EXPECT_TRUE(WIFEXITED(exited));
  EXPECT_EQ(WEXITSTATUS(exited), 7);
  const int killed = AwaitEnd(ChildThat([] { raise(SIGKILL); }));
  EXPECT_TRUE(WIFSIGNALED(killed));
  EXPECT_EQ(WTERMSIG(killed), SIGKILL);
}

TEST(ChildEnd, OneThatWasReapedIsNotWaitedFor) {
  const pid_t child = ChildThat([] {});
  AwaitEnd(child);
  EXPECT_EQ(AwaitEnd(child), 0);
}

TEST(ChildEnd, WhetherItEndsInTimeIsKnownBeforeItIsReaped) {
  const pid_t stays = ChildThat([] { pause(); });
  EXPECT_FALSE(EndsWithin(stays, std::chrono::milliseconds(20)));
  kill(stays, SIGTERM);
  EXPECT_TRUE(EndsWithin(stays, std::chrono::minutes(1)));
  EXPECT_EQ(ShellCode(AwaitEnd(stays)), 128 + SIGTERM);
  EXPECT_EQ(ShellCode(AwaitEnd(ChildThat([] { _exit(7); }))), 7);
}

}  // namespace
}  // namespace muster

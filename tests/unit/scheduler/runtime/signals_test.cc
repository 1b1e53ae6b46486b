#include "scheduler/runtime/signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace muster {
namespace {

TEST(Signals, ABlockedSignalIsReadWithItsSender) {
  const absl::StatusOr<UniqueFd> signals = BlockSignals({SIGUSR1, SIGUSR2});
  ASSERT_TRUE(signals.ok()) << signals.status();
  EXPECT_FALSE(NextSignal(*signals).value().has_value());
  ASSERT_EQ(kill(getpid(), SIGUSR2), 0);
  const std::optional<SignalEvent> event = NextSignal(*signals).value();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->number, SIGUSR2);
  EXPECT_EQ(event->sender_pid, getpid());
  EXPECT_EQ(event->sender_uid, getuid());
  EXPECT_FALSE(TakeSignal(*signals).has_value());
  ASSERT_EQ(kill(getpid(), SIGUSR1), 0);
  EXPECT_EQ(TakeSignal(*signals).value_or(SignalEvent()).number, SIGUSR1);
  EXPECT_FALSE(TakeSignal(UniqueFd()).has_value()) << "it cannot be read";
}

TEST(Signals, AnUnknownSignalIsAnError) {
  EXPECT_FALSE(BlockSignals({4711}).ok());
}

TEST(Signals, ABrokenPipeIsAnErrorAndNotTheEnd) {
  IgnoreBrokenPipes();
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe(ends), 0);
  const UniqueFd writer(ends[1]);
  close(ends[0]);
  EXPECT_EQ(write(writer.get(), "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
}

}  // namespace
}  // namespace muster

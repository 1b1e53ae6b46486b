#include "agent/supervisor/attempt/reporter.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>

#include "agent/supervisor/user_space/unix_socket.h"
#include "scheduler/runtime/clock.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using std::chrono::milliseconds;

class ReporterTest : public ::testing::Test {
 protected:
  // Notifications that have come since the last question.
  int Notified() {
    int count = 0;
    std::array<char, 64> name{};
    while (recv(agent_.get(), name.data(), name.size(), MSG_DONTWAIT) > 0) {
      ++count;
    }
    return count;
  }
  void Run(milliseconds time) {
    loop_->RunAfter(time, [this] { loop_->Stop(); });
    ASSERT_TRUE(loop_->Run().ok());
  }

  const TempDirectory directory_;
  const SystemClock clock_;
  const Logger log_{clock_, STDERR_FILENO, LogLevel::kError, false};
  const std::unique_ptr<EventLoop> loop_ = EventLoop::Create().value();
  const UniqueFd agent_ = BindUnix(directory_ / "agent", SOCK_DGRAM).value();
  Reporter reporter_{
      *loop_, log_, JournalWriter::Open(directory_ / "journal", JobId(3), AttemptNumber(1)).value(),
      directory_ / "agent", "3.1"};
};

TEST_F(ReporterTest, AStepsEndIsToldAtOnce) {
  reporter_.Report(StepEnded());
  EXPECT_EQ(Notified(), 1);
}

TEST_F(ReporterTest, AStepsEndWaitsForTheAttemptsThatFollows) {
  reporter_.Report(RunStarted());
  reporter_.Report(StepEnded(), /*end_follows=*/true);
  EXPECT_EQ(Notified(), 0);
  reporter_.Report(RunEnded());
  EXPECT_EQ(Notified(), 1);
  Run(milliseconds(50));
  EXPECT_EQ(Notified(), 0) << "all of it was told";
}

TEST_F(ReporterTest, AStepsEndIsToldSoonWhenTheAttemptsDoesNotFollow) {
  reporter_.Report(StepEnded(), /*end_follows=*/true);
  Run(milliseconds(50));
  EXPECT_EQ(Notified(), 1);
}

}  // namespace
}  // namespace muster::agent

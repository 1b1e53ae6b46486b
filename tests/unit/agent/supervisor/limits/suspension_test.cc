#include "agent/supervisor/limits/suspension.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <vector>

#include "agent/supervisor/attempt/journal.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using std::chrono::milliseconds;

// With a child of ours as the attempt's only process.
class SuspensionTest : public ::testing::Test {
 protected:
  SuspensionTest() : child_(fork()) {
    if (child_ == 0) {
      execlp("sleep", "sleep", "1000", nullptr);
      _exit(127);
    }
  }
  ~SuspensionTest() override {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }

  static SuspendOrder Order(std::uint32_t number, bool resume) {
    SuspendOrder order;
    order.suspension = number;
    order.resume = resume;
    return order;
  }
  // Runs the loop until there are that many reports, and returns them.
  std::vector<RunSuspended> Reports(std::size_t number) {
    for (int i = 0; i < 1000 && reports_.size() < number; ++i) {
      loop_->RunAfter(milliseconds(5), [this] { loop_->Stop(); });
      EXPECT_TRUE(loop_->Run().ok());
      const absl::StatusOr<std::vector<Report>> read = journal_.ReadNew();
      EXPECT_TRUE(read.ok());
      for (const Report& report : *read) {
        reports_.push_back(std::get<RunSuspended>(report.fact));
      }
    }
    EXPECT_EQ(reports_.size(), number);
    return reports_;
  }
  bool Stopped() const {
    const absl::StatusOr<std::string> stat = ReadFile("/proc/" + std::to_string(child_) + "/stat");
    return stat.ok() && stat->find(") T ") != std::string::npos;
  }

  const TempDirectory directory_;
  const SystemClock clock_;
  const Logger log_{clock_, STDERR_FILENO, LogLevel::kError, false};
  const std::unique_ptr<EventLoop> loop_ = *EventLoop::Create();
  Reporter reporter_{*loop_, log_,
                     *JournalWriter::Open(directory_ / "journal", JobId(7), AttemptNumber(1)), "",
                     "7.1"};
  AttemptJournalReader journal_{directory_ / "journal"};
  std::vector<RunSuspended> reports_;
  std::string heard_;  // s: suspended, r: resumed
  Suspension suspension_{
      *loop_,
      clock_,
      log_,
      reporter_,
      {.on_suspended = [this] { heard_ += 's'; }, .on_resumed = [this] { heard_ += 'r'; }}};
  const pid_t child_;
};

TEST_F(SuspensionTest, IsReportedOnceNothingRunsAndSoIsItsEnd) {
  EXPECT_TRUE(suspension_.Take(Order(1, false)));
  EXPECT_TRUE(suspension_.ordered());
  EXPECT_EQ(Reports(1)[0].suspension, 1U);
  EXPECT_FALSE(reports_[0].resumed);
  EXPECT_TRUE(Stopped());
  EXPECT_TRUE(suspension_.Take(Order(2, true)));
  EXPECT_FALSE(suspension_.ordered());
  EXPECT_EQ(Reports(2)[1].suspension, 2U);
  EXPECT_TRUE(reports_[1].resumed);
  EXPECT_FALSE(Stopped());
  EXPECT_EQ(heard_, "sr");
}

TEST_F(SuspensionTest, AnOrderThatComesLateChangesNothing) {
  EXPECT_TRUE(suspension_.Take(Order(4, true))) << "the order to suspend never came";
  EXPECT_FALSE(suspension_.Take(Order(3, false)));
  EXPECT_FALSE(suspension_.Take(Order(4, true)));
  EXPECT_FALSE(suspension_.ordered());
  EXPECT_TRUE(Reports(1)[0].resumed);
  EXPECT_EQ(heard_, "");
}

TEST_F(SuspensionTest, TheEndOfTheAttemptUndoesItWithoutAWord) {
  EXPECT_TRUE(suspension_.Take(Order(1, false)));
  Reports(1);
  suspension_.Undo();
  EXPECT_FALSE(suspension_.ordered());
  EXPECT_FALSE(Stopped());
  EXPECT_EQ(heard_, "s");
  Reports(1);
}

}  // namespace
}  // namespace muster::agent

#include "agent/supervisor/ending/termination.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <optional>
#include <string>

#include "agent/supervisor/attempt/journal.h"
#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

// With a shell of ours as the attempt's only process.
class TerminationTest : public ::testing::Test {
 protected:
  ~TerminationTest() override {
    if (child_ != 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
  }

  // Runs `script`, and returns once it has made the file "ready" in its directory.
  void Run(const std::string& script) {
    child_ = fork();
    if (child_ == 0) {
      if (chdir(directory_.path().c_str()) == 0) {
        execlp("sh", "sh", "-c", script.c_str(), nullptr);
      }
      _exit(127);
    }
    ASSERT_TRUE(TurnUntil([this] { return ReadFile(directory_ / "ready").ok(); }));
  }
  void Turn(milliseconds time) {
    loop_->RunAfter(time, [this] { loop_->Stop(); });
    ASSERT_TRUE(loop_->Run().ok());
  }
  template <class Condition>
  bool TurnUntil(Condition condition) {
    for (int i = 0; i < 2000 && !condition(); ++i) {
      Turn(milliseconds(5));
    }
    return condition();
  }
  // The signal that ended the shell; 0: its own end; nothing while it runs.
  std::optional<int> Ended() {
    int status = 0;
    if (!ended_.has_value() && waitpid(child_, &status, WNOHANG) == child_) {
      child_ = 0;
      ended_ = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }
    return ended_;
  }
  bool TurnToEnd() {
    return TurnUntil([this] { return Ended().has_value(); });
  }

  const TempDirectory directory_;
  const SystemClock clock_;
  const Logger log_{clock_, STDERR_FILENO, LogLevel::kError, false};
  const std::unique_ptr<EventLoop> loop_ = *EventLoop::Create();
  Reporter reporter_{*loop_, log_,
                     *JournalWriter::Open(directory_ / "journal", JobId(7), AttemptNumber(1)), "",
                     "7.1"};
  Suspension suspension_{
      *loop_, clock_, log_, reporter_, {.on_suspended = [] {}, .on_resumed = [] {}}};
  EndState end_;
  bool copying_ = false;
  int kills_ = 0;
  Termination termination_{
      *loop_,
      end_,
      suspension_,
      {.copying = [this] { return copying_; }, .on_kill = [this] { ++kills_; }}};
  pid_t child_ = 0;
  std::optional<int> ended_;
};

TEST_F(TerminationTest, AsksFirst) {
  Run("trap 'exit 0' TERM; touch ready; while :; do sleep 0.01; done");
  end_.Force(EndCause::kCancelled, "");
  termination_.Terminate(hours(1));
  ASSERT_TRUE(TurnToEnd());
  EXPECT_EQ(*Ended(), 0);
  EXPECT_EQ(kills_, 0);
}

TEST_F(TerminationTest, KillsWhatDoesNotHeedIt) {
  Run("trap '' TERM; touch ready; while :; do sleep 0.01; done");
  end_.Force(EndCause::kCancelled, "");
  termination_.Terminate(milliseconds(50));
  ASSERT_TRUE(TurnToEnd());
  EXPECT_EQ(*Ended(), SIGKILL);
  EXPECT_GE(kills_, 1);
}

TEST_F(TerminationTest, WakesWhatIsSuspendedSoThatItCanEnd) {
  Run("trap 'exit 0' TERM; touch ready; while :; do sleep 0.01; done");
  SuspendOrder order;
  order.suspension = 1;
  EXPECT_TRUE(suspension_.Take(order));
  Turn(milliseconds(50));
  end_.Force(EndCause::kCancelled, "");
  termination_.Terminate(hours(1));
  EXPECT_FALSE(suspension_.ordered());
  ASSERT_TRUE(TurnToEnd());
  EXPECT_EQ(*Ended(), 0);
}

TEST_F(TerminationTest, LeavesWhatAStepLeftWhileACheckpointIsCopied) {
  Run("touch ready; exec sleep 1000");
  copying_ = true;
  end_.EndByItself();
  termination_.EndOrphans(seconds(1));
  Turn(milliseconds(800));
  EXPECT_EQ(Ended(), std::nullopt);
  copying_ = false;
  ASSERT_TRUE(TurnToEnd());
  EXPECT_EQ(*Ended(), SIGTERM);
}

TEST_F(TerminationTest, DoesNotTouchTheSitesEpilog) {
  Run("touch ready; exec sleep 1000");
  end_.EndByItself();
  end_.SetEpilog(true);
  termination_.EndOrphans(Duration(0));
  termination_.Kill();
  Turn(milliseconds(800));
  EXPECT_EQ(Ended(), std::nullopt);
  EXPECT_EQ(kills_, 0);
}

}  // namespace
}  // namespace muster::agent

#include "agent/supervisor/checkpoint/progress_duty.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <vector>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

// The clock stands still but for the tests; the looks come by real time, each 50 ms.
class ProgressDutyTest : public ::testing::Test {
 protected:
  ProgressDutyTest() {
    order_.launch.spec.progress_timeout = seconds(1);
    order_.progress_file = directory_ / "progress";
  }

  // Turns the loop until there was another look, or the end of them.
  void TurnToLook() {
    const int before = looks_;
    for (int i = 0; i < 2000 && looks_ == before && hung_.empty(); ++i) {
      loop_->RunAfter(milliseconds(5), [this] { loop_->Stop(); });
      ASSERT_TRUE(loop_->Run().ok());
    }
    ASSERT_TRUE(looks_ > before || !hung_.empty());
  }

  const TempDirectory directory_;
  ManualClock clock_{Time(hours(1000))};
  const Logger log_{clock_, STDERR_FILENO, LogLevel::kError, false};
  const std::unique_ptr<EventLoop> loop_ = *EventLoop::Create();
  SupervisorOrder order_;
  EndState end_;
  int looks_ = 0;
  std::uint64_t beats_ = 0;
  bool suspended_ = false;
  std::vector<std::string> hung_;
  ProgressDuty duty_{*loop_,
                     clock_,
                     log_,
                     order_,
                     end_,
                     {.beats = [this] { return beats_; },
                      .suspended =
                          [this] {
                            ++looks_;
                            return suspended_;
                          },
                      .on_hung = [this](const std::string& why) { hung_.push_back(why); }}};
};

TEST_F(ProgressDutyTest, MakesTheFileThatTheJobMayTouchAndSaysThatNothingMoves) {
  duty_.Begin(nullptr);
  EXPECT_EQ(access(order_.progress_file.c_str(), F_OK), 0);
  EXPECT_EQ(looks_, 1);
  clock_.Advance(seconds(2));
  TurnToLook();
  ASSERT_EQ(hung_.size(), 1U);
  EXPECT_EQ(hung_[0], "no progress for 2 s (limit 1 s)");
}

TEST_F(ProgressDutyTest, ABeatOfTheCheckpointLibraryIsProgress) {
  duty_.Begin(nullptr);
  clock_.Advance(seconds(2));
  beats_ = 1;
  TurnToLook();
  EXPECT_TRUE(hung_.empty());
}

TEST_F(ProgressDutyTest, TheFileThatTheJobNamesIsLookedAtInItsDirectory) {
  order_.launch.program.work_dir = directory_.path();
  order_.launch.program.progress_path = "steps";
  duty_.Begin(nullptr);
  TurnToLook();
  std::ofstream(directory_ / "steps") << "1\n";
  clock_.Advance(seconds(2));
  TurnToLook();
  EXPECT_TRUE(hung_.empty());
  clock_.Advance(seconds(2));
  TurnToLook();
  EXPECT_EQ(hung_.size(), 1U);
}

TEST_F(ProgressDutyTest, TimeInWhichTheJobWasSuspendedCountsNeitherBeforeNorAfterItsEnd) {
  suspended_ = true;
  duty_.Begin(nullptr);
  clock_.Advance(seconds(10));
  TurnToLook();
  clock_.Advance(seconds(10));
  suspended_ = false;
  TurnToLook();
  EXPECT_TRUE(hung_.empty()) << "it was suspended since the look before";
  clock_.Advance(seconds(2));
  TurnToLook();
  EXPECT_EQ(hung_.size(), 1U);
}

TEST_F(ProgressDutyTest, NobodyLooksAtWhatEnds) {
  duty_.Begin(nullptr);
  end_.EndByItself();
  clock_.Advance(hours(1));
  loop_->RunAfter(milliseconds(150), [this] { loop_->Stop(); });
  ASSERT_TRUE(loop_->Run().ok());
  EXPECT_EQ(looks_, 1);
  EXPECT_TRUE(hung_.empty());
}

}  // namespace
}  // namespace muster::agent

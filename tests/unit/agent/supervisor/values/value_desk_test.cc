#include "agent/supervisor/values/value_desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "agent/supervisor/attempt/reported_values.h"
#include "checkpoint/disk/report_socket.h"
#include "checkpoint/muster_checkpoint.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using checkpoint::Fault;
using checkpoint::SendReport;
using ::testing::SizeIs;

class ValueDeskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    loop_ = EventLoop::Create().value();
    // Longer than a socket's address has room for.
    const std::string deep = directory_ / std::string(120, 'd');
    ASSERT_EQ(mkdir(deep.c_str(), 0700), 0);
    socket_ = deep + "/report";
    file_ = directory_ / "reported";
    desk_ = ValueDesk::Open({.loop = *loop_, .clock = clock_, .socket = socket_, .file = file_})
                .value();
  }
  // Lets the loop work for a while.
  void Turn(std::chrono::milliseconds time) {
    loop_->RunAfter(time, [this] { loop_->Stop(); });
    ASSERT_TRUE(loop_->Run().ok());
  }

  const TempDirectory directory_;
  const SystemClock clock_;
  std::unique_ptr<EventLoop> loop_;
  std::string socket_;
  std::string file_;
  std::unique_ptr<ValueDesk> desk_;
};

TEST_F(ValueDeskTest, TheNewestStepOfEachProcessIsKept) {
  EXPECT_FALSE(SendReport(socket_, "step=1 loss=3").failed());
  EXPECT_FALSE(SendReport(socket_, "iteration=7").failed());
  EXPECT_FALSE(SendReport(socket_, "loss=2").failed());
  Turn(std::chrono::milliseconds(50));
  desk_.reset();
  const ReportedValues read = ReadReported(file_);
  ASSERT_THAT(read.marks, SizeIs(1));
  EXPECT_EQ(read.marks[0].teller.pid, getpid());
  EXPECT_EQ(read.marks[0].step, 7);
  EXPECT_NE(read.marks[0].time, kNoTime);
}

TEST_F(ValueDeskTest, AStepIsTheRanksThatTheWordsName) {
  EXPECT_FALSE(SendReport(socket_, "step=1 MUSTER_STEP_ID=2 MUSTER_PROCID=10").failed());
  EXPECT_FALSE(SendReport(socket_, "MUSTER_PROCID=10 MUSTER_STEP_ID=2 step=7").failed());
  EXPECT_FALSE(SendReport(socket_, "step=5 MUSTER_STEP_ID=-1 MUSTER_PROCID=1e99").failed());
  Turn(std::chrono::milliseconds(50));
  desk_.reset();
  const ReportedValues read = ReadReported(file_);
  ASSERT_THAT(read.values, SizeIs(1)) << "who says it is no value";
  ASSERT_THAT(read.marks, SizeIs(2));
  EXPECT_EQ(read.marks[0].teller, (Teller{0, 0, getpid()}));
  EXPECT_EQ(read.marks[0].step, 5);
  EXPECT_EQ(read.marks[1].teller, (Teller{2, 10, 0}));
  EXPECT_EQ(read.marks[1].step, 7);
}

TEST_F(ValueDeskTest, WhatIsSaidStandsInTheFileAndWhatIsNoneDoesNot) {
  EXPECT_FALSE(SendReport(socket_, "loss=0.5 step=1").failed());
  EXPECT_FALSE(SendReport(socket_, "what is this").failed()) << "nobody answers";
  EXPECT_FALSE(SendReport(socket_, "step=2").failed());
  Turn(std::chrono::milliseconds(50));
  desk_.reset();  // writes what has not been written
  const ReportedValues read = ReadReported(file_);
  ASSERT_THAT(read.values, SizeIs(2));
  EXPECT_EQ(read.values[0].last, 0.5);
  EXPECT_EQ(read.values[1].last, 2);
  EXPECT_EQ(SendReport(socket_, "step=3").fault, Fault::kNotFound) << "the socket has gone";
}

TEST_F(ValueDeskTest, WhatIsNotedStandsInTheFileUntilItIsOver) {
  desk_->Note(std::nullopt);
  desk_->Note(ReportedFinding{"CheckpointOverdue", "none yet", Time(std::chrono::seconds(5))});
  Turn(std::chrono::milliseconds(1200));
  ASSERT_THAT(ReadReported(file_).findings, SizeIs(1));
  EXPECT_EQ(ReadReported(file_).findings[0].rule, "CheckpointOverdue");
  desk_->Note(std::nullopt);
  Turn(std::chrono::milliseconds(1200));
  EXPECT_THAT(ReadReported(file_).findings, SizeIs(0));
}

TEST_F(ValueDeskTest, AFloodIsLostAndReadNoFaster) {
  int sent = 0;
  for (int i = 0; i < 2000; ++i) {
    sent += SendReport(socket_, "step=" + std::to_string(i)).failed() ? 0 : 1;
    if (i % 100 == 0) {
      Turn(std::chrono::milliseconds(1));
    }
  }
  EXPECT_LT(sent, 2000) << "a sender is told that there was no room";
  desk_.reset();
  const ReportedValues read = ReadReported(file_);
  ASSERT_THAT(read.values, SizeIs(1));
  EXPECT_LE(read.values[0].count, 2U * ValueDesk::kBurst);
}

TEST_F(ValueDeskTest, ProgramsSayItByTheLibrary) {
  EXPECT_EQ(muster_report("loss=1"), MUSTER_CHECKPOINT_NOT_FOUND) << "outside of a job";
  setenv("MUSTER_REPORT_SOCKET", socket_.c_str(), 1);
  EXPECT_EQ(muster_report("loss=1"), MUSTER_CHECKPOINT_OK);
  EXPECT_EQ(muster_report(nullptr), MUSTER_CHECKPOINT_USAGE);
  EXPECT_EQ(muster_report(std::string(5000, 'x').c_str()), MUSTER_CHECKPOINT_USAGE);
  unsetenv("MUSTER_REPORT_SOCKET");
}

}  // namespace
}  // namespace muster::agent

#include "checkpoint/session/cadence.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "tests/unit/checkpoint/store_files.h"

namespace muster::checkpoint {
namespace {

using ::testing::SizeIs;

class CadenceTest : public StoreFiles {
 protected:
  void SetUp() override {
    StoreFiles::SetUp();
    hints_ = (directory_ / "hints").string();
    page_ = (directory_ / "page").string();
    scheduler_ = std::move(HintFile::Create(hints_).value);
    const Result<int> fd = CreateProgress(page_);
    ASSERT_TRUE(fd.ok()) << fd.error.text;
    fd_ = fd.value;
  }
  void TearDown() override {
    close(fd_);
    StoreFiles::TearDown();
  }
  Cadence Make(double interval_s = 0, bool together = false) {
    return {interval_s, together, std::move(HintFile::Open(hints_).value),
            std::move(ProgressSlot::Take(page_).value)};
  }
  SlotReport Slot() const {
    const Result<ProgressReport> report = ReadProgress(fd_);
    EXPECT_THAT(report.value.slots, SizeIs(1));
    return report.value.slots.at(0);
  }
  static void Checkpoint(Cadence* cadence, const Error& error = {}) {
    cadence->Begin();
    cadence->Wrote(100);
    cadence->End();
    cadence->Report(error);
  }

  HintFile scheduler_;

 private:
  std::string hints_;
  std::string page_;
  int fd_ = -1;
};

TEST_F(CadenceTest, AnIntervalThatIsOverIsANeedUntilTheNextCheckpoint) {
  Cadence cadence = Make(3600);
  EXPECT_EQ(cadence.Ask(), Need::kNone);
  Cadence hasty = Make(1e-9);
  EXPECT_EQ(hasty.Ask(), Need::kInterval);
}

TEST_F(CadenceTest, TheNextIntervalBeginsWhenTheProgramGoesOn) {
  constexpr double kIntervalS = 2;
  Cadence cadence = Make(kIntervalS);
  cadence.Begin();
  cadence.End();
  std::this_thread::sleep_for(std::chrono::duration<double>(kIntervalS));  // the copy is started
  EXPECT_EQ(cadence.Ask(), Need::kInterval);
  cadence.Report({});
  EXPECT_EQ(cadence.Ask(), Need::kNone);
}

TEST_F(CadenceTest, CheckpointsThatFailAreCountedOnceEachUntilOneIsGood) {
  Cadence cadence = Make();
  for (std::uint64_t failed = 1; failed <= 2; ++failed) {
    cadence.Begin();
    cadence.Fail();
    cadence.Report(MakeError(Fault::kSystem, "no space"));
    EXPECT_EQ(Slot().failed, failed);
  }
  EXPECT_EQ(Slot().commits, 0U);
  Checkpoint(&cadence);
  EXPECT_EQ(Slot().failed, 0U);
  EXPECT_EQ(Slot().commits, 1U);
}

TEST_F(CadenceTest, ACheckpointAnswersTheNoticeThatWasThereWhenItBegan) {
  Cadence cadence = Make();
  scheduler_.Publish({.notice = Notice::kDrain, .notice_number = 5});
  EXPECT_EQ(cadence.Ask(), Need::kDrain);
  EXPECT_EQ(cadence.asked_notice(), 5U);
  Checkpoint(&cadence);
  EXPECT_EQ(Slot().notice, 5U);
  EXPECT_EQ(cadence.Ask(), Need::kNone);
  scheduler_.Publish({.notice = Notice::kPreemption, .notice_number = 6});
  Checkpoint(&cadence);  // without having asked
  EXPECT_EQ(Slot().notice, 6U);
}

TEST_F(CadenceTest, ARankOfAGroupAnswersWhatRankZeroWasTold) {
  Cadence cadence = Make(0, true);
  scheduler_.Publish({.notice = Notice::kDrain, .notice_number = 5});
  cadence.AskedFor(4);
  Checkpoint(&cadence);
  EXPECT_EQ(Slot().notice, 4U);
  EXPECT_EQ(Slot().beats, 2U);
}

TEST_F(CadenceTest, WhatFailedIsNotReportedUnlessItStands) {
  Cadence cadence = Make();
  Checkpoint(&cadence, MakeError(Fault::kSystem, "no"));
  EXPECT_EQ(Slot().commits, 0U);
  Checkpoint(&cadence, MakeError(Fault::kNotShared, "later"));
  EXPECT_EQ(Slot().commits, 1U);
  EXPECT_EQ(Slot().bytes, 100U);
  EXPECT_GE(Slot().ended_ms, Slot().begun_ms);
}

TEST_F(CadenceTest, EveryThirdCommitIsCopiedAndEachThatAnswersANotice) {
  Cadence cadence = Make();
  scheduler_.Publish({.copy_every = 3});
  Checkpoint(&cadence);
  EXPECT_FALSE(cadence.WantsCopy(1));
  EXPECT_TRUE(cadence.WantsCopy(3));
  scheduler_.Publish({.notice = Notice::kDrain, .notice_number = 5, .copy_every = 3});
  Checkpoint(&cadence);
  EXPECT_TRUE(cadence.WantsCopy(1));
}

TEST_F(CadenceTest, ComingBackIsReported) {
  Cadence cadence = Make();
  EXPECT_EQ(Slot().restored_ms, 0U);
  cadence.Restored();
  EXPECT_GE(Slot().restored_ms, Slot().opened_ms);
}

}  // namespace
}  // namespace muster::checkpoint

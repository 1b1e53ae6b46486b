#include "agent/supervisor/checkpoint/checkpoint_watch.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <chrono>

namespace muster::agent {
namespace {

using checkpoint::ProgressReport;
using checkpoint::SlotReport;

constexpr Time kStart{std::chrono::hours(480'000)};

std::uint64_t Ms(int seconds) {
  return static_cast<std::uint64_t>((kStart + std::chrono::seconds(seconds)).time_since_epoch() /
                                    Duration(1));
}

class CheckpointWatchTest : public ::testing::Test {
 protected:
  CheckpointWatchTest() {
    page_.slots = {Slot(0), Slot(1)};
    std::string pattern = "/tmp/muster-watch-XXXXXX";
    const int fd = mkstemp(pattern.data());
    close(fd);
    path_ = pattern;
    EXPECT_TRUE(watch_.Make(path_, nullptr, kStart).ok());
  }
  ~CheckpointWatchTest() override { unlink(path_.c_str()); }
  static SlotReport Slot(std::uint32_t index) {
    SlotReport slot;
    slot.index = index;
    slot.pid = 100 + index;
    slot.serial = 1 + index;
    slot.opened_ms = Ms(1);
    return slot;
  }
  // The slot says one more, that began and ended then.
  static void Commit(SlotReport& slot, int begun, int ended, std::uint32_t notice = 0) {
    const auto took_us = static_cast<std::uint64_t>(ended - begun) * 1'000'000;
    ++slot.commits;
    slot.begun_ms = Ms(begun);
    slot.ended_ms = Ms(ended);
    slot.cost_us = took_us;
    slot.stall_us += took_us;
    slot.bytes = 1000;
    slot.notice = notice;
    ++slot.beats;
  }
  void Look(int now, std::uint32_t notice = 0) {
    watch_.Take(
        page_,
        [this](const SlotReport& slot) {
          return std::find(dead_.begin(), dead_.end(), slot.pid) == dead_.end();
        },
        notice, kStart + std::chrono::seconds(now));
  }
  const CheckpointRecord& record() const { return watch_.record(); }

  std::string path_;
  ProgressReport page_;
  std::vector<std::uint32_t> dead_;
  CheckpointWatch watch_;
};

TEST_F(CheckpointWatchTest, ACheckpointCountsOnceEachOpenSessionHasCommittedIt) {
  Commit(page_.slots[0], 10, 14);
  Look(15);
  EXPECT_EQ(record().count, 0U);
  EXPECT_EQ(record().begun, kNoTime);
  Commit(page_.slots[1], 11, 16);
  Look(17);
  EXPECT_EQ(record().count, 1U);
  EXPECT_EQ(record().begun, kStart + std::chrono::seconds(10));
  EXPECT_EQ(record().committed, kStart + std::chrono::seconds(16));
  EXPECT_EQ(record().cost, std::chrono::seconds(5));
  EXPECT_EQ(record().bytes, Bytes(2000));
  EXPECT_EQ(watch_.beats(), 2U);
}

TEST_F(CheckpointWatchTest, RanksStandStillTogetherAndProgramsOneAfterTheOther) {
  Commit(page_.slots[0], 10, 14);
  Commit(page_.slots[1], 10, 13);
  Look(15);
  EXPECT_EQ(record().stall, std::chrono::seconds(4));
  page_.slots[0].closed = page_.slots[1].closed = true;
  page_.slots.push_back(Slot(2));
  Commit(page_.slots[2], 20, 21);
  Look(22);
  EXPECT_EQ(record().stall, std::chrono::seconds(5));
  EXPECT_EQ(record().count, 2U);  // what closed before holds nobody back
}

TEST_F(CheckpointWatchTest, TheLastCommitOfAProgramThatClosedAtOnceCounts) {
  Look(5);
  for (SlotReport& slot : page_.slots) {
    Commit(slot, 10, 11, 2);
    slot.closed = true;
  }
  Look(12, 2);
  EXPECT_EQ(record().count, 1U);
  EXPECT_EQ(record().notice, 2U);
  EXPECT_FALSE(watch_.Answered(2)) << "there is nobody left to end";
  Look(13);
  EXPECT_EQ(record().count, 1U);
}

TEST_F(CheckpointWatchTest, CheckpointsThatFailInARowAreThoseOfTheOpenSessionThatFailsMost) {
  page_.slots[0].failed = 1;
  page_.slots[1].failed = 3;
  Look(20);
  EXPECT_EQ(record().failed, 3U);
  dead_ = {page_.slots[1].pid};
  Look(30);
  EXPECT_EQ(record().failed, 1U);
  page_.slots[0].failed = 0;
  Look(40);
  EXPECT_EQ(record().failed, 0U);
}

TEST_F(CheckpointWatchTest, AProcessThatDiedHoldsNobodyBack) {
  Commit(page_.slots[0], 10, 14, 3);
  dead_ = {101};
  Look(15, 3);
  EXPECT_EQ(record().count, 1U);
  EXPECT_TRUE(watch_.Answered(3));
}

TEST_F(CheckpointWatchTest, ANoticeIsAnsweredWhenEachOpenSessionHasAnsweredIt) {
  Look(5, 2);
  EXPECT_FALSE(watch_.Answered(2));
  Commit(page_.slots[0], 10, 11, 2);
  Look(11, 2);
  EXPECT_FALSE(watch_.Answered(2));
  EXPECT_EQ(record().notice, 0U);
  Commit(page_.slots[1], 10, 12, 2);
  Look(12, 2);
  EXPECT_TRUE(watch_.Answered(2));
  EXPECT_FALSE(watch_.Answered(3));
  EXPECT_EQ(record().notice, 2U);
  page_.crowded = true;  // somebody else may not have
  Look(13, 2);
  EXPECT_FALSE(watch_.Answered(2));
}

TEST_F(CheckpointWatchTest, WithoutAnOpenSessionNobodyAnswers) {
  page_.slots.clear();
  Look(5, 0);
  EXPECT_FALSE(watch_.Answered(0));
  EXPECT_FALSE(watch_.Answered(1));
}

TEST_F(CheckpointWatchTest, ARestartLastsFromTheAttemptsStartUntilAllRanksWereBack) {
  page_.slots[0].restored_ms = Ms(4);
  Look(5);
  EXPECT_EQ(record().restart, std::chrono::seconds(4));
  page_.slots[1].restored_ms = Ms(7);
  page_.slots[1].opened_ms = Ms(3);
  page_.slots.push_back(Slot(2));  // another program, later
  page_.slots[2].opened_ms = Ms(50);
  page_.slots[2].restored_ms = Ms(60);
  Look(70);
  EXPECT_EQ(record().restart, std::chrono::seconds(7));
}

TEST_F(CheckpointWatchTest, NewerCostsCountMore) {
  page_.slots.pop_back();
  Commit(page_.slots[0], 10, 14);
  Look(15);
  Commit(page_.slots[0], 20, 28);
  Look(29);
  EXPECT_EQ(record().cost, std::chrono::seconds(5));
}

TEST_F(CheckpointWatchTest, HowLongACopyTakesIsTheMeanOfThoseThatWereTold) {
  page_.copy_us = 40'000'000;
  Look(100);
  EXPECT_EQ(record().flush, Duration(0)) << "none was told";
  page_.copies = 1;
  Look(101);
  EXPECT_EQ(record().flush, std::chrono::seconds(40));
  page_.copy_us = 80'000'000;
  Look(102);
  EXPECT_EQ(record().flush, std::chrono::seconds(40)) << "the same one";
  page_.copies = 2;
  Look(103);
  EXPECT_EQ(record().flush, std::chrono::seconds(50));
  page_.copies = 1;
  Look(104);
  EXPECT_EQ(record().flush, std::chrono::seconds(50));
}

TEST_F(CheckpointWatchTest, TheSlowestOfFewSaysHowLongTheyTake) {
  Commit(page_.slots[0], 10, 14);
  Commit(page_.slots[1], 11, 16);
  Look(17);
  EXPECT_EQ(record().slow, std::chrono::seconds(6)) << "from the first's begin to the last's end";
  Commit(page_.slots[0], 20, 21);
  Commit(page_.slots[1], 20, 21);
  Look(22);
  EXPECT_EQ(record().slow, std::chrono::seconds(6));
}

TEST_F(CheckpointWatchTest, WhatTookWithoutTheLibraryIsAMeasureAndNoCheckpoint) {
  watch_.TakeSafeTime(std::chrono::seconds(7));
  EXPECT_EQ(record().slow, std::chrono::seconds(7));
  EXPECT_EQ(record().cost, std::chrono::seconds(7));
  EXPECT_EQ(record().count, 0U);
}

TEST_F(CheckpointWatchTest, WhateverThePageSaysTheRecordIsPossible) {
  EXPECT_TRUE(rc::check([&] {
    CheckpointWatch watch;
    RC_ASSERT(watch.Make(path_, nullptr, kStart).ok());
    CheckpointRecord before;
    Time now = kStart;
    for (int look = 0; look < 4; ++look) {
      now += Duration(*rc::gen::inRange(0, 100'000));
      ProgressReport report;
      const auto count = *rc::gen::inRange(0, 4);
      for (int i = 0; i < count; ++i) {
        SlotReport slot;
        slot.index = static_cast<std::uint32_t>(i);
        for (std::uint64_t* field :
             {&slot.serial, &slot.opened_ms, &slot.restored_ms, &slot.commits, &slot.begun_ms,
              &slot.ended_ms, &slot.cost_us, &slot.stall_us, &slot.bytes, &slot.beats}) {
          *field = *rc::gen::arbitrary<std::uint64_t>() >> *rc::gen::inRange(0, 64);
        }
        slot.notice = *rc::gen::arbitrary<std::uint32_t>();
        slot.closed = *rc::gen::arbitrary<bool>();
        report.slots.push_back(slot);
      }
      report.copies = *rc::gen::arbitrary<std::uint64_t>();
      report.copy_us = *rc::gen::arbitrary<std::uint64_t>();
      const bool living = *rc::gen::arbitrary<bool>();
      watch.Take(
          report, [living](const SlotReport&) { return living; }, 7, now);
      const CheckpointRecord& record = watch.record();
      RC_ASSERT(record.count >= before.count && record.stall >= before.stall);
      RC_ASSERT(record.begun >= before.begun && record.begun <= record.committed);
      RC_ASSERT(record.committed <= now && record.notice <= 7U);
      RC_ASSERT((record.count == 0) == (record.begun == kNoTime));
      RC_ASSERT(record.count == 0 || record.begun >= kStart);
      RC_ASSERT(record.stall <= now - kStart && record.cost <= now - kStart);
      RC_ASSERT(record.flush >= Duration(0) && record.flush <= std::max(now - kStart, Duration(1)));
      RC_ASSERT(record.restart >= Duration(0) && record.restart <= now - kStart);
      before = record;
    }
  }));
}

}  // namespace
}  // namespace muster::agent

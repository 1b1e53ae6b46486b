#include "checkpoint/advice/need.h"

#include <gtest/gtest.h>

namespace muster::checkpoint {
namespace {

constexpr double kNow = 1'800'000'000;
constexpr std::uint64_t kNowMs = 1'800'000'000'000;

TEST(NeedByScr, TheEdgesAreThoseOfTheReference) {
  const ScrLimits two{.overhead_percent = 2};
  EXPECT_FALSE(NeedByScr(two, 1, 1470, 30));  // 2.000 %
  EXPECT_TRUE(NeedByScr(two, 1, 1471, 30));
  const ScrLimits ten{.overhead_percent = 10};
  EXPECT_FALSE(NeedByScr(ten, 1, 540, 60));
  EXPECT_TRUE(NeedByScr(ten, 1, 541, 60));
  EXPECT_TRUE(NeedByScr(ten, 1, 0, -1));  // no cost known yet
}

TEST(NeedByScr, CallsAndSecondsCount) {
  const ScrLimits third{.every_calls = 3};
  EXPECT_FALSE(NeedByScr(third, 1, 0, 1));
  EXPECT_FALSE(NeedByScr(third, 2, 0, 1));
  EXPECT_TRUE(NeedByScr(third, 3, 0, 1));
  const ScrLimits minute{.every_seconds = 60};
  EXPECT_FALSE(NeedByScr(minute, 1, 59.999, 1));
  EXPECT_TRUE(NeedByScr(minute, 1, 60, 1));
  EXPECT_FALSE(NeedByScr({}, 1, 1e9, 1));
}

TEST(Need, TheIntervalIsTheHintsElseTheProgramsOwn) {
  EXPECT_EQ(Decide({}, {.since_last_s = 1e9}, kNow), Need::kNone);
  EXPECT_EQ(Decide({}, {.since_last_s = 59.9, .interval_s = 60}, kNow), Need::kNone);
  EXPECT_EQ(Decide({}, {.since_last_s = 60, .interval_s = 60}, kNow), Need::kInterval);
  const Hints hint{.interval_ms = 10'000};
  EXPECT_EQ(Decide(hint, {.since_last_s = 10, .interval_s = 60}, kNow), Need::kInterval);
}

TEST(Need, WhoHasToWaitForTheFileSystemWaitsOneIntervalMoreAtMost) {
  const Hints wait{.interval_ms = 10'000, .write_slot = WriteSlot::kWait};
  EXPECT_EQ(Decide(wait, {.since_last_s = 19.9}, kNow), Need::kNone);
  EXPECT_EQ(Decide(wait, {.since_last_s = 20}, kNow), Need::kInterval);
  const Hints yours{.interval_ms = 10'000, .write_slot = WriteSlot::kYours};
  EXPECT_EQ(Decide(yours, {.since_last_s = 10}, kNow), Need::kInterval);
}

TEST(Need, ANoticeIsAnsweredOnce) {
  const Hints preempt{.notice = Notice::kPreemption, .notice_number = 7};
  EXPECT_EQ(Decide(preempt, {}, kNow), Need::kPreemption);
  EXPECT_EQ(Decide(preempt, {.answered_notice = 7}, kNow), Need::kNone);
  EXPECT_EQ(Decide({.notice = Notice::kDrain, .notice_number = 8}, {.answered_notice = 7}, kNow),
            Need::kDrain);
  EXPECT_EQ(Decide({.notice = Notice::kResize, .notice_number = 9}, {}, kNow), Need::kResize);
  EXPECT_EQ(Decide({.notice = static_cast<Notice>(99), .notice_number = 9}, {}, kNow), Need::kNone);
}

TEST(Need, TheLastCheckpointIsDoneBeforeTheDeadline) {
  const Pace pace{.since_last_s = 100, .cost_s = 30};
  const auto left = [](std::uint64_t seconds) {
    return Hints{.deadline_ms = kNowMs + seconds * 1000};
  };
  EXPECT_EQ(Decide(left(62), pace, kNow), Need::kNone);
  EXPECT_EQ(Decide(left(61), pace, kNow), Need::kTimeLimit);
  EXPECT_EQ(Decide(left(31), pace, kNow), Need::kTimeLimit);
  EXPECT_EQ(Decide(left(30), pace, kNow), Need::kNone);  // too late
  Pace answered = pace;
  answered.deadline_answered = true;
  EXPECT_EQ(Decide(left(50), answered, kNow), Need::kNone);
  // Nothing is begun that would not be done, though the interval is over.
  EXPECT_EQ(Decide({.interval_ms = 1000, .deadline_ms = kNowMs + 10'000}, pace, kNow), Need::kNone);
}

TEST(Copy, OneOfSoManyIsCopiedAndEachThatAnswers) {
  for (const std::uint32_t each : {0U, 1U}) {
    EXPECT_TRUE(IsCopied({.copy_every = each}, {.since_copy = 1}, kNow));
  }
  const Hints fourth{.interval_ms = 60'000, .copy_every = 4};
  EXPECT_FALSE(IsCopied(fourth, {.since_copy = 3}, kNow));
  EXPECT_TRUE(IsCopied(fourth, {.since_copy = 4}, kNow));
  EXPECT_TRUE(IsCopied(fourth, {.since_copy = 5}, kNow)) << "there was no room for the fourth";
  EXPECT_TRUE(IsCopied(fourth, {.since_copy = 1, .answers = true}, kNow));
}

TEST(Copy, WhatMayBeTheLastBeforeTheDeadlineIsCopied) {
  const Committed first{.since_copy = 1, .cost_s = 5};
  const auto left = [](std::uint64_t seconds) {
    return Hints{.interval_ms = 60'000, .deadline_ms = kNowMs + seconds * 1000, .copy_every = 4};
  };
  EXPECT_FALSE(IsCopied(left(72), first, kNow));
  EXPECT_TRUE(IsCopied(left(71), first, kNow)) << "an interval, two costs and a second";
}

}  // namespace
}  // namespace muster::checkpoint

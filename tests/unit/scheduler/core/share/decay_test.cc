#include "scheduler/core/share/decay.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace muster::core {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr Duration kWeek = hours(7 * 24);
constexpr Time kStart{Duration(1'773'480'413'000)};
constexpr BillingRate kOneCpu{1'000'000};

ChargedRun Charged(Time from, Time until, BillingRate rate = kOneCpu, std::uint64_t job = 1) {
  return {.job = JobId(job), .rate = rate, .from = from, .until = until};
}

double Value(const DecayedUsage& usage, Time at, Duration half_life) {
  return static_cast<double>(GrainsAt(usage, at, half_life)) / 1e12;
}

// The run [from, until) charged in pieces of `tick`.
DecayedUsage Ticked(Time from, Time until, Duration tick, Duration half_life) {
  DecayedUsage usage;
  for (Time at = from; at < until; at += tick) {
    usage = Charge(usage, Charged(at, std::min(at + tick, until)), half_life);
  }
  return usage;
}

TEST(Decay, HalfIsLeftAfterAHalfLife) {
  for (const Duration half_life : {Duration(seconds(1)), Duration(seconds(60)), kWeek}) {
    const DecayedUsage usage = Charge({}, Charged(kStart - seconds(1), kStart), half_life);
    const double now = Value(usage, kStart, half_life);
    EXPECT_NEAR(Value(usage, kStart + half_life, half_life) / now, 0.5, 1e-11);
    EXPECT_NEAR(Value(usage, kStart + 2 * half_life, half_life) / now, 0.25, 1e-11);
    EXPECT_NEAR(Value(usage, kStart + half_life / 2, half_life) / now, std::sqrt(0.5), 1e-11);
  }
}

// Slurm has 299.8969 here, and 872576.78 below.
TEST(Decay, ARunIsWorthTheIntegralOfItsDecayingRate) {
  const Time until = kStart + seconds(300);
  const double exact = (1 - std::exp2(-300.0 / 604800)) * 604800 / std::log(2.0);
  EXPECT_NEAR(Value(Charge({}, Charged(kStart, until), kWeek), until, kWeek), exact, 1e-10);
  EXPECT_NEAR(exact, 299.9484, 5e-5);
}

TEST(Decay, ARunForEverIsWorthHalfLifeOverLnTwo) {
  const Time until = kStart + 60 * kWeek;
  EXPECT_NEAR(Value(Charge({}, Charged(kStart, until), kWeek), until, kWeek), 872'541.96, 5e-3);
}

TEST(Decay, TicksOfASecondFiveMinutesAndADayAgree) {
  const Time until = kStart + hours(24 * 3);
  const double once = Value(Charge({}, Charged(kStart, until), kWeek), until, kWeek);
  for (const Duration tick : {Duration(seconds(1)), Duration(seconds(300)), Duration(hours(24))}) {
    EXPECT_NEAR(Value(Ticked(kStart, until, tick, kWeek), until, kWeek) / once, 1, 1e-9);
  }
}

TEST(Decay, WithinAPeriodTicksAgreeToTheLastBit) {
  const Time start{Duration(kWeek * 16 * 180)};
  const Time until = start + 15 * kWeek;
  EXPECT_EQ(Ticked(start, until, seconds(301), kWeek), Charge({}, Charged(start, until), kWeek));
}

TEST(Decay, NoTickLengthMatters) {
  EXPECT_TRUE(rc::check([] {
    const Duration half_life = seconds(*rc::gen::inRange(1, 3000));
    const Duration length = seconds(*rc::gen::inRange(1, 30'000));
    const Duration tick{*rc::gen::inRange(500, 5'000'000)};
    const Time from = kStart + seconds(*rc::gen::inRange(0, 100'000));
    const Time until = from + length;
    const Time read = until + seconds(*rc::gen::inRange(0, 3000));
    const double once = Value(Charge({}, Charged(from, until), half_life), read, half_life);
    const double ticked = Value(Ticked(from, until, tick, half_life), read, half_life);
    RC_ASSERT(std::abs(ticked - once) <= 1e-9 * std::max(once, 1.0));
  }));
}

TEST(Decay, TimeThatGoesBackAddsNothing) {
  const DecayedUsage usage = Charge({}, Charged(kStart, kStart + seconds(100)), kWeek);
  EXPECT_EQ(Charge(usage, Charged(kStart + seconds(100), kStart), kWeek), usage);
  EXPECT_EQ(Charge(usage, Charged(kStart, kStart), kWeek), usage);
}

TEST(Decay, AHalfLifeOfZeroKeepsEverything) {
  const DecayedUsage usage = Charge({}, Charged(kStart, kStart + seconds(100)), Duration(0));
  EXPECT_EQ(ShownAt(usage, kStart + hours(24 * 10'000), Duration(0)), ShownUsage(100'000'000));
  EXPECT_EQ(Ticked(kStart, kStart + seconds(100), Duration(7), Duration(0)), usage);
}

TEST(Decay, ThirtyDaysDownIsOneExactStep) {
  const DecayedUsage usage = Charge({}, Charged(kStart - hours(1), kStart), kWeek);
  const Time back = kStart + hours(24 * 30);
  EXPECT_NEAR(Value(usage, back, kWeek) / Value(usage, kStart, kWeek), std::exp2(-30.0 / 7), 1e-12);
  EXPECT_NEAR(Value(Charge(usage, Charged(kStart, back), kWeek), back, kWeek),
              Value(Charge({}, Charged(kStart - hours(1), back), kWeek), back, kWeek), 1e-9);
}

TEST(Decay, UsageOfLongAgoVanishes) {
  const DecayedUsage usage = Charge({}, Charged(kStart - hours(1), kStart), seconds(1));
  EXPECT_EQ(GrainsAt(usage, kStart + hours(24), seconds(1)), 0U);
  EXPECT_EQ(AmountOf(Charge(usage, Charged(kStart + hours(24), kStart + hours(24) + Duration(1)),
                            seconds(1))),
            AmountOf(Charge({}, Charged(kStart + hours(24), kStart + hours(24) + Duration(1)),
                            seconds(1))));
}

TEST(Decay, TheLargestRateForTheLongestHalfLifeFits) {
  const DecayedUsage usage =
      Charge({}, Charged(kStart, kStart + 30 * kHalfLifeMax, kBillingRateMax), kHalfLifeMax);
  const double exact = 1e10 * static_cast<double>(kHalfLifeMax.count()) / 1000 / std::log(2.0);
  EXPECT_NEAR(Value(usage, kStart + 30 * kHalfLifeMax, kHalfLifeMax) / exact, 1, 1e-8);
}

TEST(Decay, ANewHalfLifeKeepsWhatUsageIsWorthAtThatMoment) {
  EXPECT_TRUE(rc::check([] {
    const Duration before = seconds(*rc::gen::inRange(60, 1'000'000));
    const Duration after = seconds(*rc::gen::inRange(60, 1'000'000));
    const Time until = kStart + seconds(*rc::gen::inRange(100, 1'000'000));
    const DecayedUsage usage = Charge({}, Charged(kStart, until), before);
    const double value = Value(usage, until, before);
    const DecayedUsage changed = WithHalfLife(usage, until, before, after);
    RC_ASSERT(std::abs(Value(changed, until, after) - value) <= 1e-10 * value);
    RC_ASSERT(std::abs(Value(changed, until + after, after) - value / 2) <= 1e-10 * value);
    const DecayedUsage kept = WithHalfLife(usage, until, before, Duration(0));
    RC_ASSERT(Value(kept, until + before, Duration(0)) == value);
  }));
}

// --- Receipts ------------------------------------------------------------------------------------

std::uint64_t Sum(const UsageReceipt& receipt) {
  return std::accumulate(
      receipt.lines.begin(), receipt.lines.end(), receipt.earlier.value(),
      [](std::uint64_t sum, const ReceiptLine& line) { return sum + line.part.value(); });
}

TEST(Receipt, SaysWhatIsLeftOfEachJob) {
  const std::vector<ChargedRun> runs = {Charged(kStart, kStart + hours(1), kOneCpu, 7),
                                        Charged(kStart, kStart + hours(2), kOneCpu, 8)};
  DecayedUsage usage = Charge({}, Charged(kStart - hours(5), kStart), kWeek);
  for (const ChargedRun& run : runs) {
    usage = Charge(usage, run, kWeek);
  }
  const UsageReceipt receipt = MakeReceipt(usage, runs, kStart + kWeek, kWeek);
  EXPECT_EQ(receipt.total, ShownAt(usage, kStart + kWeek, kWeek));
  ASSERT_EQ(receipt.lines.size(), 2U);
  EXPECT_EQ(receipt.lines[0].job, JobId(7));
  EXPECT_NEAR(static_cast<double>(receipt.lines[0].part.value()) / 1e6, 1800 * 1.002, 1);
  EXPECT_NEAR(static_cast<double>(receipt.lines[1].part.value()) / 1e6, 3600 * 1.004, 1);
  EXPECT_NEAR(static_cast<double>(receipt.earlier.value()) / 1e6, 9000 * 0.9897, 1);
  EXPECT_EQ(Sum(receipt), receipt.total.value());
}

TEST(Receipt, WithoutAnyUsageIsEmpty) {
  EXPECT_EQ(MakeReceipt({}, {}, kStart, kWeek), UsageReceipt());
}

TEST(Receipt, ItsPartsAddUpToTheLastDigit) {
  EXPECT_TRUE(rc::check([] {
    const Duration half_life = seconds(*rc::gen::elementOf(std::vector<int>{0, 10, 3600, 604800}));
    const int count = *rc::gen::inRange(0, 20);
    const int listed_from = *rc::gen::inRange(0, count + 1);
    DecayedUsage usage;
    std::vector<ChargedRun> runs;
    Time at = kStart;
    for (int i = 0; i < count; ++i) {
      const Time from = kStart + Duration(*rc::gen::inRange(0, 400'000));
      const Time until = from + Duration(*rc::gen::inRange(1, 400'000));
      const BillingRate rate(*rc::gen::inRange(1U, 3'000'000U));
      const ChargedRun run = Charged(from, until, rate, static_cast<std::uint64_t>(i) + 1);
      usage = Charge(usage, run, half_life);
      at = std::max(at, until);
      if (i >= listed_from) {
        runs.push_back(run);
      }
    }
    at += Duration(*rc::gen::inRange(0, 100'000));
    const UsageReceipt receipt = MakeReceipt(usage, runs, at, half_life);
    RC_ASSERT(receipt.total == ShownAt(usage, at, half_life));
    RC_ASSERT(Sum(receipt) == receipt.total.value());
    if (listed_from == 0) {
      RC_ASSERT(receipt.earlier.value() <= 1U);
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const double exact = Value(Charge({}, runs[i], half_life), at, half_life) * 1e6;
      RC_ASSERT(std::abs(static_cast<double>(receipt.lines[i].part.value()) - exact) <= 1.01);
    }
  }));
}

}  // namespace
}  // namespace muster::core

#include "scheduler/simulator/life/virtual_clock.h"

#include <gtest/gtest.h>

#include <vector>

#include "scheduler/simulator/life/faults.h"

namespace muster::sim {
namespace {

TEST(VirtualClock, RunsWhatIsDueInTheOrderOfTimeAndOfAsking) {
  VirtualClock clock(Time(Duration(1000)));
  std::vector<int> ran;
  clock.After(Duration(20), [&] { ran.push_back(3); });
  clock.After(Duration(10), [&] {
    ran.push_back(1);
    clock.After(Duration(-5), [&] { ran.push_back(2); });
  });
  clock.After(Duration(20), [&] { ran.push_back(4); });
  while (clock.RunNext()) {
  }
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(clock.now(), Time(Duration(1020)));
}

TEST(Faults, TheSameSeedGivesTheSameAnswers) {
  Faults one(7, FaultRates());
  Faults same(7, FaultRates());
  Faults other(8, FaultRates());
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t answer = one.Below(1'000'000);
    EXPECT_EQ(answer, same.Below(1'000'000));
    differs = differs || answer != other.Below(1'000'000);
  }
  EXPECT_TRUE(differs);
}

// The first outputs of SplitMix64 from seed 1234567, as its authors' reference code prints them.
TEST(Faults, TheSequenceIsSplitMix64) {
  Faults faults(1234567, FaultRates());
  EXPECT_EQ(faults.Below(UINT64_MAX), 6457827717110365317U);
  EXPECT_EQ(faults.Below(UINT64_MAX), 3203168211198807973U);
}

TEST(Faults, NothingGoesWrongAfterTheyStop) {
  FaultRates rates;
  rates.reply_lost = 1000;
  Faults faults(1, rates);
  EXPECT_TRUE(faults.Fault(rates.reply_lost));
  faults.Stop();
  EXPECT_FALSE(faults.Fault(rates.reply_lost));
}

}  // namespace
}  // namespace muster::sim

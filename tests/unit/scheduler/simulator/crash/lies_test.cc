#include "scheduler/simulator/crash/lies.h"

#include <gtest/gtest.h>

namespace muster::sim {
namespace {

FaultRates Always() {
  FaultRates rates;
  rates.lie = 1000;
  return rates;
}

TEST(Lies, AreToldAtTheirRateAndNeverOnceFaultsHaveStopped) {
  Faults honest(1, FaultRates());
  EXPECT_FALSE(DrawFalseReport(honest, kNoTime).has_value());
  EXPECT_FALSE(DrawPhantom(honest).has_value());
  Faults liar(1, Always());
  EXPECT_TRUE(DrawFalseReport(liar, kNoTime).has_value());
  EXPECT_TRUE(DrawPhantom(liar).has_value());
  EXPECT_EQ(liar.counts().lies, 2U);
  liar.Stop();
  EXPECT_FALSE(DrawFalseReport(liar, kNoTime).has_value());
  EXPECT_FALSE(DrawPhantom(liar).has_value());
}

TEST(Lies, SayNothingThatTheControllerWaitsFor) {
  Faults liar(2, Always());
  for (int i = 0; i < 100; ++i) {
    EXPECT_GE(DrawFalseReport(liar, kNoTime)->index, 1'000U) << "no attempt has as many reports";
    EXPECT_GE(DrawPhantom(liar)->attempt, AttemptNumber(1'000)) << "none is ordered by it";
  }
}

}  // namespace
}  // namespace muster::sim

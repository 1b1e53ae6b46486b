#include "scheduler/core/share/cost.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <chrono>
#include <cstdint>

namespace muster::core {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr std::uint64_t kUnit = kCostUnit;
const Time kStart(hours(1000));

// Half a cent an hour for a CPU, and so on.
Prices Site() {
  PriceStep step;
  step.cpu_hour = kUnit / 200;
  step.gpu_hour = 2 * kUnit;
  step.memory_gib_hour = kUnit / 1000;
  step.node_hour = kUnit / 10;
  step.kwh = kUnit * 3 / 10;
  return {"EUR", {step}};
}

AttemptUse Held(int minutes_held, std::uint32_t cpus) {
  AttemptUse attempt;
  attempt.start_time = kStart;
  attempt.end_time = kStart + minutes(minutes_held);
  attempt.cpus = cpus;
  return attempt;
}

std::uint64_t CostAt(const AttemptUse& attempt, const Prices& prices, Time now = kNoTime) {
  return CostOf(attempt, prices, now).value();
}

TEST(CostTest, EachResourceCostsItsPriceForTheTimeThatItWasHeld) {
  AttemptUse attempt = Held(30, 8);
  EXPECT_EQ(CostAt(attempt, Site()), kUnit / 200 * 8 / 2);
  attempt.gpus = 2;
  attempt.memory = kGibibyte * 64;
  attempt.node_count = 1;
  // (8 * 0.005 + 2 * 2 + 64 * 0.001 + 0.1) / 2
  EXPECT_EQ(CostAt(attempt, Site()), 2'102'000U);
}

TEST(CostTest, EnergyCostsWhatWasMeasured) {
  AttemptUse attempt = Held(60, 0);
  attempt.usage.cpu_energy_mj = 3'600'000'000;
  attempt.usage.gpu_energy_mj = 1'800'000'000;
  EXPECT_EQ(CostAt(attempt, Site()), kUnit * 45 / 100);
}

TEST(CostTest, AUnitOfBillingCostsByTheRateOfTheAttempt) {
  Prices prices{"EUR", {PriceStep()}};
  prices.steps[0].billing_hour = kUnit / 4;
  AttemptUse attempt = Held(120, 8);
  attempt.billing = BillingRate(2'500'000);  // two units and a half
  EXPECT_EQ(CostAt(attempt, prices), kUnit * 5 / 4);
}

TEST(CostTest, SuspendedTimeCostsNothing) {
  AttemptUse attempt = Held(90, 2);
  attempt.suspended = minutes(30);
  EXPECT_EQ(CostAt(attempt, Site()), CostAt(Held(60, 2), Site()));
  attempt.suspended = minutes(300);
  EXPECT_EQ(CostAt(attempt, Site()), 0U);
}

TEST(CostTest, OneThatRunsCostsWhatItHasHeldSoFar) {
  AttemptUse attempt = Held(0, 2);
  attempt.end_time = kNoTime;
  EXPECT_EQ(CostAt(attempt, Site(), kStart + minutes(15)), CostAt(Held(15, 2), Site()));
  EXPECT_EQ(CostAt(attempt, Site(), kStart - minutes(15)), 0U) << "clocks may differ";
}

TEST(CostTest, ThePricesCountThatHeldWhenItBegan) {
  Prices prices = Site();
  prices.steps.push_back(prices.steps[0]);
  prices.steps[1].since = kStart;
  prices.steps[1].cpu_hour *= 10;
  prices.steps.push_back(prices.steps[1]);
  prices.steps[2].since = kStart + minutes(1);
  prices.steps[2].cpu_hour *= 10;
  AttemptUse attempt = Held(60, 1);
  EXPECT_EQ(CostAt(attempt, prices), kUnit / 20) << "a price holds from its first moment";
  attempt.start_time -= Duration(1);
  attempt.end_time -= Duration(1);
  EXPECT_EQ(CostAt(attempt, prices), kUnit / 200);
  attempt.start_time += hours(5);
  attempt.end_time += hours(5);
  EXPECT_EQ(CostAt(attempt, prices), kUnit / 2);
}

TEST(CostTest, WithoutPricesOrAStartThereIsNoCost) {
  EXPECT_EQ(CostAt(Held(60, 4), Prices()), 0U);
  AttemptUse attempt = Held(60, 4);
  attempt.start_time = kNoTime;
  EXPECT_EQ(CostAt(attempt, Site()), 0U);
}

TEST(CostTest, TheLargestAmountsDoNotOverflow) {
  PriceStep dear;
  dear.cpu_hour = dear.gpu_hour = dear.memory_gib_hour = dear.node_hour = dear.billing_hour =
      dear.kwh = 1'000'000'000 * kUnit;
  AttemptUse attempt = Held(0, UINT32_MAX);
  attempt.gpus = attempt.node_count = UINT32_MAX;
  attempt.memory = Bytes(UINT64_MAX);
  attempt.billing = kBillingRateMax;
  attempt.end_time = Time(Duration(INT64_MAX));
  EXPECT_EQ(CostAt(attempt, {"EUR", {dear}}), std::uint64_t{1} << 63);
}

// In floating point, to within rounding.
void CheckCostAsADoubleHasIt() {
  const auto price = [] { return *rc::gen::inRange<std::uint64_t>(0, 1000 * kUnit); };
  PriceStep step;
  step.cpu_hour = price();
  step.gpu_hour = price();
  step.memory_gib_hour = price();
  step.node_hour = price();
  step.kwh = price();
  AttemptUse attempt = Held(*rc::gen::inRange(0, 100'000), *rc::gen::inRange(0U, 100'000U));
  attempt.gpus = *rc::gen::inRange(0U, 10'000U);
  attempt.node_count = *rc::gen::inRange(0U, 10'000U);
  attempt.memory = Bytes(*rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 50));
  attempt.usage.gpu_energy_mj = *rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 45);
  const double held = static_cast<double>((attempt.end_time - attempt.start_time).count()) / 3.6e6;
  const double gibibytes = static_cast<double>(attempt.memory.value()) / (1 << 30);
  const double expected =
      held * (attempt.cpus * static_cast<double>(step.cpu_hour) +
              attempt.gpus * static_cast<double>(step.gpu_hour) +
              gibibytes * static_cast<double>(step.memory_gib_hour) +
              attempt.node_count * static_cast<double>(step.node_hour)) +
      static_cast<double>(attempt.usage.gpu_energy_mj) / 3.6e9 * static_cast<double>(step.kwh);
  const auto cost = static_cast<double>(CostAt(attempt, {"EUR", {step}}));
  RC_ASSERT(cost <= expected * (1 + 1e-9) + 1);
  RC_ASSERT(cost >= expected * (1 - 1e-9) - 2);
}

TEST(CostTest, TheSumIsThatOfItsParts) {
  EXPECT_TRUE(rc::check(CheckCostAsADoubleHasIt));
}

}  // namespace
}  // namespace muster::core

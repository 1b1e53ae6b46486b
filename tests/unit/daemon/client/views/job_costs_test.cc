#include "daemon/client/views/job_costs.h"

#include <gtest/gtest.h>

#include <chrono>

namespace muster::daemon {
namespace {

const Time kStart{std::chrono::hours(1000)};

Prices OneForACpuHour() {
  PriceStep step;
  step.cpu_hour = kCostUnit;
  step.kwh = kCostUnit;
  return {"EUR", {step}};
}

AttemptView Ran(int hours) {
  AttemptView attempt;
  attempt.start_time = kStart;
  attempt.end_time = kStart + std::chrono::hours(hours);
  attempt.cpus = 2;
  return attempt;
}

TEST(JobCostsTest, AJobCostsWhatAllItsAttemptsDoTheOneUnderWayAsWell) {
  JobDetail detail;
  detail.attempts = {Ran(1), Ran(3), Ran(0)};
  detail.attempts[2].end_time = kNoTime;
  for (const std::uint64_t kilowatt_hours : {1, 2}) {
    detail.live_usage.emplace_back().usage.gpu_energy_mj = kilowatt_hours * 3'600'000'000;
  }
  AddCost(OneForACpuHour(), kStart + std::chrono::hours(5), detail);
  EXPECT_EQ(detail.job.cost, Cost((2 + 6 + 10 + 3) * kCostUnit));
  EXPECT_EQ(detail.job.currency, "EUR");
  AddCost(Prices(), kStart, detail);
  EXPECT_EQ(detail.job.cost, Cost());
  EXPECT_EQ(detail.job.currency, "");
}

TEST(JobCostsTest, EachAttemptSaysItsOwn) {
  std::vector<AttemptUse> attempts = {UseOf(Ran(1)), UseOf(Ran(3))};
  JobView job;
  AddCost(OneForACpuHour(), kStart, attempts, job);
  EXPECT_EQ(attempts[0].cost, Cost(2 * kCostUnit));
  EXPECT_EQ(attempts[1].cost, Cost(6 * kCostUnit));
  EXPECT_EQ(job.cost, Cost(8 * kCostUnit));
}

TEST(JobCostsTest, ABookGivesThePricesThatItWasGivenLast) {
  PriceBook book;
  EXPECT_EQ(*book.Now(), Prices());
  const auto before = book.Now();
  book.Use(OneForACpuHour());
  EXPECT_EQ(*book.Now(), OneForACpuHour());
  EXPECT_EQ(*before, Prices()) << "whoever reads goes on with what it has";
}

}  // namespace
}  // namespace muster::daemon

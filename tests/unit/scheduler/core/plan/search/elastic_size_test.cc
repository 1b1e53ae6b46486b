#include "scheduler/core/plan/search/elastic_size.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

namespace muster::core {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const Time kNow = Time(std::chrono::hours(24 * 20000));

ElasticStatus Of(std::uint32_t nodes, std::uint32_t within, Duration left) {
  ElasticStatus status;
  status.nodes = nodes;
  status.within = within;
  status.most = within;
  status.left = left;
  return status;
}

ResizeVerdict VerdictAt(ElasticStatus job, Duration left, const ElasticPolicy& policy) {
  job.left = left;
  return JudgeSize(job, policy, kNow).verdict;
}

// The whole second from which on a change pays.
std::int64_t PaysAbove(std::uint32_t n, std::uint32_t m, std::uint32_t percent, seconds cost) {
  ElasticPolicy policy;
  policy.efficiency_percent = percent;
  policy.restart_cost = cost;
  std::int64_t left = 0;
  while (VerdictAt(Of(n, m, kNeverEnds), seconds(left), policy) != ResizeVerdict::kGrow) {
    ++left;
  }
  return left - 1;
}

TEST(ElasticSize, AChangePaysFromTheTimesOfTheReference) {
  EXPECT_EQ(PaysAbove(8, 12, 90, seconds(120)), 392);
  EXPECT_EQ(PaysAbove(8, 16, 90, seconds(120)), 258);  // 258.6: more than 258 s, 259 s pays
  EXPECT_EQ(PaysAbove(4, 5, 100, seconds(60)), 300);
}

TEST(ElasticSize, TheTimeSavedIsThatOfTheFormula) {
  EXPECT_TRUE(rc::check([] {
    const auto n = *rc::gen::inRange<std::uint32_t>(1, 5000);
    const auto m = *rc::gen::inRange<std::uint32_t>(n, 5001);
    const auto percent = *rc::gen::inRange<std::uint32_t>(1, 101);
    const double saved = std::ldexp(static_cast<double>(TimeSaved(n, m, percent)), -62);
    const double formula = 1 - std::pow(static_cast<double>(n) / m, percent / 100.0);
    RC_ASSERT(std::abs(saved - formula) < 1e-9);
  }));
}

TEST(ElasticSize, MoreNodesAndMoreTimeGainMore) {
  EXPECT_TRUE(rc::check([] {
    const auto n = *rc::gen::inRange<std::uint32_t>(1, 500);
    const auto m = *rc::gen::inRange<std::uint32_t>(n, 500);
    const auto percent = *rc::gen::inRange<std::uint32_t>(1, 101);
    const Duration left(*rc::gen::inRange<std::int64_t>(0, 1'000'000'000));
    const Duration more = left + Duration(*rc::gen::inRange<std::int64_t>(0, 1'000'000));
    RC_ASSERT(GainOf(n, m, left, percent) <= GainOf(n, m + 1, left, percent));
    RC_ASSERT(GainOf(n, m, left, percent) <= GainOf(n, m, more, percent));
    RC_ASSERT(GainOf(n, m, left, percent) <= left);
    RC_ASSERT(GainOf(n, n, left, percent) == Duration(0));
  }));
}

TEST(ElasticSize, AJobWithoutALimitAlwaysGains) {
  EXPECT_EQ(GainOf(99, 100, kNeverEnds, 1), kNeverEnds);
  EXPECT_EQ(JudgeSize(Of(4, 5, kNeverEnds), ElasticPolicy(), kNow).verdict, ResizeVerdict::kGrow);
}

TEST(ElasticSize, AJobThatHasAllItMayHaveIsRigid) {
  EXPECT_EQ(JudgeSize(Of(4, 4, kNeverEnds), ElasticPolicy(), kNow).verdict,
            ResizeVerdict::kLargest);
}

TEST(ElasticSize, AJobStaysWhereNothingIsFree) {
  ElasticStatus job = Of(4, 4, kNeverEnds);
  job.most = 8;
  const PlannedResize resize = JudgeSize(job, ElasticPolicy(), kNow);
  EXPECT_EQ(resize.verdict, ResizeVerdict::kNoRoom);
  EXPECT_EQ(resize.nodes, 4U);
  EXPECT_EQ(resize.when, kNoTime);
}

TEST(ElasticSize, AChangeWaitsForTheLastCallOnceAndNotAnew) {
  ElasticStatus job = Of(4, 5, kNeverEnds);
  const PlannedResize first = JudgeSize(job, ElasticPolicy(), kNow);
  EXPECT_EQ(first.when, kNow + seconds(30));
  job.due = first.when;
  job.within = 7;
  job.most = 8;
  const PlannedResize second = JudgeSize(job, ElasticPolicy(), kNow + seconds(5));
  EXPECT_EQ(second.verdict, ResizeVerdict::kGrow);
  EXPECT_EQ(second.when, first.when);
  EXPECT_EQ(second.nodes, 7U);
}

TEST(ElasticSize, TwoChangesAreTenTimesTheirCostApart) {
  ElasticStatus job = Of(4, 8, kNeverEnds);
  job.cost = seconds(60);
  job.changed = kNow;
  const PlannedResize early = JudgeSize(job, ElasticPolicy(), kNow + minutes(10) - Duration(1));
  EXPECT_EQ(early.verdict, ResizeVerdict::kTooSoon);
  EXPECT_EQ(early.when, kNow + minutes(10));
  EXPECT_EQ(JudgeSize(job, ElasticPolicy(), kNow + minutes(10)).verdict, ResizeVerdict::kGrow);
}

TEST(ElasticSize, AJobShrinksOnlyForOneThatWaitsLongerThanTheChangeCosts) {
  ElasticStatus job = Of(8, 5, kNeverEnds);
  job.cost = seconds(60);
  const auto judge = [&](Duration wait, Time now = kNow) {
    return JudgeShrink(job, wait, ElasticPolicy(), now);
  };
  EXPECT_EQ(judge(seconds(90)).verdict, ResizeVerdict::kTooLittle) << "30 s are the last call";
  const PlannedResize planned = judge(seconds(91));
  EXPECT_EQ(planned.verdict, ResizeVerdict::kShrink);
  EXPECT_EQ(planned.nodes, 5U);
  EXPECT_EQ(planned.gain, seconds(61));
  EXPECT_EQ(planned.when, kNow + seconds(30));
  EXPECT_EQ(judge(kNeverEnds).verdict, ResizeVerdict::kShrink);
  job.due = planned.when;
  EXPECT_EQ(judge(seconds(71), kNow + seconds(20)).when, planned.when);
  job.changed = kNow;
  EXPECT_EQ(judge(kNeverEnds, kNow + minutes(10) - Duration(1)).verdict, ResizeVerdict::kTooSoon);
  EXPECT_EQ(judge(kNeverEnds, kNow + minutes(10)).verdict, ResizeVerdict::kShrink);
}

TEST(ElasticSize, AChangeIsPlannedOnlyWhereItGainsMoreThanItCosts) {
  EXPECT_TRUE(rc::check([] {
    ElasticStatus job;
    job.nodes = *rc::gen::inRange<std::uint32_t>(1, 64);
    job.most = job.nodes + *rc::gen::inRange<std::uint32_t>(0, 64);
    job.within = job.nodes + *rc::gen::inRange<std::uint32_t>(0, job.most - job.nodes + 1);
    job.left = Duration(*rc::gen::inRange<std::int64_t>(-1000, 10'000'000));
    job.cost = Duration(*rc::gen::inRange<std::int64_t>(0, 600'000));
    job.changed = *rc::gen::element(kNoTime, kNow - minutes(5), kNow - std::chrono::hours(5));
    const ElasticPolicy policy;
    const PlannedResize resize = JudgeSize(job, policy, kNow);
    const Duration cost = job.cost > Duration(0) ? job.cost : policy.restart_cost;
    const bool pays = GainOf(job.nodes, job.within, job.left, 90) > cost;
    const bool rests = job.changed != kNoTime && kNow < job.changed + 10 * cost;
    RC_ASSERT((resize.verdict == ResizeVerdict::kGrow) ==
              (job.within > job.nodes && pays && !rests));
    RC_ASSERT(resize.nodes >= job.nodes && resize.nodes <= job.most);
  }));
}

}  // namespace
}  // namespace muster::core

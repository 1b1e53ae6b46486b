#include "cli/service/terms/service_scaler.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace muster::cli {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

ScaleRule RuleFor(std::uint32_t least, std::uint32_t most) {
  return {.least = least, .most = most, .metric = "inflight", .target = 10};
}

ScaleRule AnyRule() {
  const auto least = *rc::gen::inRange(1U, 20U);
  return RuleFor(least, least + *rc::gen::inRange(0U, 50U));
}

std::vector<double> AnyReports() {
  std::vector<double> said;
  for (const int each : *rc::gen::container<std::vector<int>>(rc::gen::inRange(-100, 10'000))) {
    said.push_back(static_cast<double>(each) / 10);
  }
  return said;
}

// The load, spread evenly.
std::vector<double> Shared(double load, std::uint32_t replicas) {
  return std::vector<double>(replicas, load / replicas);
}

TEST(ServiceScalerTest, TheAverageOfAReplicaComesToTheTarget) {
  const ScaleRule rule = RuleFor(1, 100);
  EXPECT_EQ(NeededReplicas(rule, 4, {20, 20, 20, 20}), 8U);
  EXPECT_EQ(NeededReplicas(rule, 4, {15, 10, 15, 10}), 5U);
  EXPECT_EQ(NeededReplicas(rule, 4, {5, 5, 5, 5}), 2U);
  EXPECT_EQ(NeededReplicas(rule, 4, {6, 6, 6, 6}), 3U) << "rounded up";
  EXPECT_EQ(NeededReplicas(rule, 4, {0, 0, 0, 0}), 1U);
}

TEST(ServiceScalerTest, ATenthChangesNothing) {
  EXPECT_EQ(NeededReplicas(RuleFor(1, 100), 10, Shared(110, 10)), 10U);
  EXPECT_EQ(NeededReplicas(RuleFor(1, 100), 10, Shared(112, 10)), 12U);
  EXPECT_EQ(NeededReplicas(RuleFor(1, 100), 10, Shared(90, 10)), 10U);
  EXPECT_EQ(NeededReplicas(RuleFor(1, 100), 10, Shared(80, 10)), 8U);
}

TEST(ServiceScalerTest, WhoSaysNothingSoftensTheChange) {
  const ScaleRule rule = RuleFor(1, 100);
  EXPECT_EQ(NeededReplicas(rule, 4, {}), 4U);
  EXPECT_EQ(NeededReplicas(rule, 4, {30, 30}), 6U) << "the two that start will take their part";
  EXPECT_EQ(NeededReplicas(rule, 4, {20, 20}), 4U);
  EXPECT_EQ(NeededReplicas(rule, 4, {0, 0}), 2U) << "the two that are silent may be busy";
}

TEST(ServiceScalerTest, AtOnceItAtMostDoublesOrGrowsByFour) {
  EXPECT_EQ(NeededReplicas(RuleFor(1, 100), 1, {1'000}), 5U);
  EXPECT_EQ(NeededReplicas(RuleFor(1, 100), 10, Shared(10'000, 10)), 20U);
}

TEST(ServiceScalerTest, TheBoundsHoldWhateverIsReported) {
  EXPECT_TRUE(rc::check([] {
    ServiceScaler scaler;
    const ScaleRule rule = AnyRule();
    auto replicas = *rc::gen::inRange(0U, 100U);
    SteadyTime now{};
    for (int i = 0; i < 20; ++i) {
      replicas = scaler.Choose(rule, replicas, AnyReports(), now);
      RC_ASSERT(replicas >= rule.least && replicas <= rule.most);
      now += seconds(*rc::gen::inRange(0, 200));
    }
  }));
}

TEST(ServiceScalerTest, MoreLoadNeverNeedsFewer) {
  EXPECT_TRUE(rc::check([] {
    const ScaleRule rule = AnyRule();
    const auto replicas = *rc::gen::inRange(1U, 60U);
    const std::vector<double> said = AnyReports();
    std::vector<double> more = said;
    for (double& each : more) {
      each += *rc::gen::inRange(0, 50);
    }
    RC_ASSERT(NeededReplicas(rule, replicas, more) >= NeededReplicas(rule, replicas, said));
  }));
}

TEST(ServiceScalerTest, ALoadThatStaysSettlesAtOneNumber) {
  EXPECT_TRUE(rc::check([] {
    const ScaleRule rule = RuleFor(1, 1'000);
    const double load = *rc::gen::inRange(0, 5'000);
    auto replicas = *rc::gen::inRange(1U, 100U);
    for (int i = 0; i < 20; ++i) {
      replicas = NeededReplicas(rule, replicas, Shared(load, replicas));
    }
    RC_ASSERT(NeededReplicas(rule, replicas, Shared(load, replicas)) == replicas);
    RC_ASSERT(load / replicas <= rule.target * 1.1 + 1e-6);
  }));
}

TEST(ServiceScalerTest, FewerAreChosenOnlyOnceFewerHaveDoneForTheTime) {
  EXPECT_TRUE(rc::check([] {
    const ScaleRule rule = RuleFor(1, 1'000);
    ServiceScaler scaler;
    const auto replicas = *rc::gen::inRange(1U, 100U);
    SteadyTime now{};
    while (now < SteadyTime(rule.settle)) {
      RC_ASSERT(scaler.Choose(rule, replicas, Shared(0, replicas), now) == replicas);
      now += seconds(*rc::gen::inRange(1, 60));
    }
    RC_ASSERT(scaler.Choose(rule, replicas, Shared(0, replicas), now) == 1U);
  }));
}

TEST(ServiceScalerTest, MoreAreChosenAtOnceAndAPeakIsRemembered) {
  const ScaleRule rule = RuleFor(1, 100);
  ServiceScaler scaler;
  SteadyTime now{};
  EXPECT_EQ(scaler.Choose(rule, 4, Shared(40, 4), now), 4U);
  EXPECT_EQ(scaler.Choose(rule, 4, Shared(80, 4), now += seconds(15)), 8U);
  EXPECT_EQ(scaler.Choose(rule, 8, Shared(40, 8), now += seconds(15)), 8U);
  EXPECT_EQ(scaler.Choose(rule, 8, Shared(60, 8), now += minutes(4)), 8U);
  EXPECT_EQ(scaler.Choose(rule, 8, Shared(20, 8), now += minutes(2)), 6U)
      << "six would have been needed two minutes ago";
}

}  // namespace
}  // namespace muster::cli

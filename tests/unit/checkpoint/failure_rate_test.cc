#include "checkpoint/failure_rate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace muster::checkpoint {
namespace {

const FailureRate kPrior{1, 50'000};

TEST(FailureRate, ThreeFailuresGiveTheDigitsOfTheReferenceTable) {
  const FailureRate rate = Learn(kPrior, 3, 100'000);
  EXPECT_DOUBLE_EQ(rate.shape, 4);
  EXPECT_DOUBLE_EQ(rate.exposure_h, 150'000);
  EXPECT_NEAR(MeanRate(rate), 2.6667e-5, 5e-10);
  EXPECT_DOUBLE_EQ(MeanNodeMtbf(rate), 50'000);
  EXPECT_DOUBLE_EQ(JobMtbf(rate, 1000), 37.5);
  EXPECT_NEAR(NoFailureProbability(rate, 1000, 24), 0.55229, 5e-6);
  EXPECT_NEAR(std::exp(-MeanRate(rate) * 1000 * 24), 0.52729, 5e-6);
  const RateBounds bounds = CredibleRates(rate, 0.9);
  EXPECT_NEAR(bounds.low, 9.1088e-6, 5e-11);
  EXPECT_NEAR(bounds.high, 5.1691e-5, 5e-10);
}

TEST(FailureRate, NoFailureAtAllGivesTheDigitsOfTheReferenceTable) {
  const FailureRate rate = Learn(kPrior, 0, 100'000);
  EXPECT_NEAR(MeanRate(rate), 6.6667e-6, 5e-11);
  EXPECT_TRUE(std::isinf(MeanNodeMtbf(rate)));
  EXPECT_DOUBLE_EQ(JobMtbf(rate, 1000), 150);
  EXPECT_NEAR(NoFailureProbability(rate, 1000, 24), 0.86207, 5e-6);
  EXPECT_NEAR(std::exp(-MeanRate(rate) * 1000 * 24), 0.85214, 5e-6);
  const RateBounds bounds = CredibleRates(rate, 0.9);
  EXPECT_NEAR(bounds.low, 3.4196e-7, 5e-12);
  EXPECT_NEAR(bounds.high, 1.9972e-5, 5e-10);
}

TEST(FailureRate, AQuantileOfTheExponentialIsItsFormula) {
  for (double p = 0.001; p < 1; p += 0.0173) {
    EXPECT_NEAR(RateQuantile({1, 3}, p) / (-std::log1p(-p) / 3), 1, 1e-11) << p;
  }
}

TEST(FailureRate, AQuantileGrowsWithItsProbabilityAndAddsUp) {
  for (const double shape : {0.05, 0.7, 1.0, 4.0, 55.5, 3000.0}) {
    double before = 0;
    for (double p = 0.05; p < 1; p += 0.05) {
      const double at = RateQuantile({shape, 1}, p);
      EXPECT_GT(at, before) << shape << " " << p;
      before = at;
    }
    // The median lies between shape - 1/3 and shape (Chen and Rubin 1986).
    if (shape >= 1) {
      EXPECT_GT(RateQuantile({shape, 1}, 0.5), shape - 1.0 / 3);
      EXPECT_LT(RateQuantile({shape, 1}, 0.5), shape);
    }
  }
}

TEST(FailureRate, ForgettingEndsAtThePrior) {
  const FailureRate learned = Learn(kPrior, 30, 1'000'000);
  const FailureRate later = Age(learned, kPrior, 1, 0.98);
  EXPECT_DOUBLE_EQ(later.shape, learned.shape * 0.98);
  EXPECT_DOUBLE_EQ(later.exposure_h, learned.exposure_h * 0.98);
  const FailureRate old = Age(learned, kPrior, 10'000, 0.98);
  EXPECT_DOUBLE_EQ(old.shape, kPrior.shape);
  EXPECT_DOUBLE_EQ(old.exposure_h, kPrior.exposure_h);
}

TEST(FailureRate, NinetyOfAHundredTrueRatesLieInTheInterval) {
  std::mt19937_64 chance(20261121);
  std::gamma_distribution<double> prior(2.0, 1.0 / 50'000);
  int inside = 0;
  constexpr int kClusters = 10'000;
  for (int i = 0; i < kClusters; ++i) {
    const double truth = prior(chance);
    std::poisson_distribution<int> failures(truth * 200'000);
    const RateBounds bounds = CredibleRates(Learn({2, 50'000}, failures(chance), 200'000), 0.9);
    inside += bounds.low <= truth && truth <= bounds.high ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(inside) / kClusters, 0.90, 0.02);
}

}  // namespace
}  // namespace muster::checkpoint

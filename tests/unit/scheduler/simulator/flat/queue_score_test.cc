#include "scheduler/simulator/flat/queue_score.h"

#include <gtest/gtest.h>

#include <cmath>

namespace muster::sim {
namespace {

TEST(QueueScore, LogarithmsAgreeWithTheMachinesOwn) {
  for (std::uint64_t value = 1; value < 5'000'000'000'000; value += value / 7 + 1) {
    const double log = std::ldexp(static_cast<double>(Log2Fixed(value)), -52);
    EXPECT_NEAR(log, std::log2(static_cast<double>(value)), 1e-13) << value;
  }
  EXPECT_EQ(Log2Fixed(1), 0);
  EXPECT_EQ(Log2Fixed(1 << 20), std::int64_t{20} << 52);
}

TEST(QueueScore, FollowsThePublishedFormulas) {
  const Tick s = 12'345;
  const Tick r = 3'600;
  const double log_s = std::log10(12'345.0);
  EXPECT_EQ(QueueScore(FlatOrder::kSjf, 16, s, r, s), 3600);
  EXPECT_NEAR(QueueScore(FlatOrder::kWfp3, 16, s, r, s + 7200), -8 * 16, 1e-9);
  EXPECT_NEAR(QueueScore(FlatOrder::kUnicep, 16, s, r, s + 7200), -2.0 / 4, 1e-9);
  EXPECT_NEAR(QueueScore(FlatOrder::kF1, 16, s, r, s), std::log10(3600.0) * 16 + 870 * log_s, 1e-5);
  EXPECT_NEAR(QueueScore(FlatOrder::kF2, 16, s, r, s), 60 * 16 + 25600 * log_s, 1e-5);
  EXPECT_NEAR(QueueScore(FlatOrder::kF3, 16, s, r, s), 3600 * 16 + 6860000 * log_s, 1e-5);
  EXPECT_NEAR(QueueScore(FlatOrder::kF4, 16, s, r, s), 3600 * 4 + 530000 * log_s, 1e-5);
}

TEST(QueueScore, EqualOnPaperIsEqualHere) {
  EXPECT_EQ(QueueScore(FlatOrder::kF1, 3, 50, 100, 50), QueueScore(FlatOrder::kF1, 6, 50, 10, 50));
  EXPECT_EQ(QueueScore(FlatOrder::kF1, 3, 50, 8, 50), QueueScore(FlatOrder::kF1, 9, 50, 2, 50));
  EXPECT_EQ(QueueScore(FlatOrder::kF4, 4, 50, 9, 50), QueueScore(FlatOrder::kF4, 9, 50, 6, 50));
}

TEST(QueueScore, OneProcessorThatWaitsIsFirstUnderUnicep) {
  EXPECT_EQ(QueueScore(FlatOrder::kUnicep, 1, 0, 10, 0), 0);
  EXPECT_LT(QueueScore(FlatOrder::kUnicep, 1, 0, 10, 1),
            QueueScore(FlatOrder::kUnicep, 2, 0, 1, 1'000'000));
}

}  // namespace
}  // namespace muster::sim

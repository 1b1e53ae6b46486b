#include "agent/kernels/cpu/sums.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <rapidcheck.h>

#include <cmath>
#include <vector>

namespace muster::kernels {
namespace {

double SumWith(int team, const std::vector<double>& in) {
  omp_set_num_threads(team);
  const auto n = static_cast<int64_t>(in.size());
  std::vector<double> partial(static_cast<size_t>(PartialSums(n)));
  return SumOf(in.data(), n, partial.data());
}

TEST(SumsTest, NothingSumsToZero) {
  EXPECT_EQ(SumWith(1, {}), 0);
}

TEST(SumsTest, WholeNumbersAreExact) {
  std::vector<double> in(3 * kChunkElements + 7);
  double expected = 0;
  double squares = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    in[i] = static_cast<double>(i % 1000) - 300;
    expected += in[i];
    squares += in[i] * in[i];
  }
  EXPECT_EQ(SumWith(1, in), expected);
  std::vector<double> partial(4);
  EXPECT_EQ(SumSquaresOf(in.data(), static_cast<int64_t>(in.size()), partial.data()), squares);
}

TEST(SumsTest, LargeTermsThatCancelAcrossChunksLoseNothing) {
  std::vector<double> in(3 * kChunkElements, 0);
  in[0] = 1e300;
  in[kChunkElements] = 1;
  in[2 * kChunkElements] = -1e300;
  EXPECT_EQ(SumWith(1, in), 1);
}

TEST(SumsTest, AnInfinityStaysOne) {
  std::vector<double> in(2 * kChunkElements, 1);
  in[5] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(SumWith(1, in), std::numeric_limits<double>::infinity());
}

#if !defined(__SANITIZE_THREAD__)
TEST(SumsTest, TheBitsDoNotDependOnTheTeam) {
  std::vector<double> in(50 * kChunkElements + 3);
  for (size_t i = 0; i < in.size(); ++i) {
    in[i] = std::sin(static_cast<double>(i));
  }
  const double alone = SumWith(1, in);
  for (const int team : {2, 3, 7}) {
    EXPECT_EQ(SumWith(team, in), alone) << team;
  }
}
#endif

TEST(SumsTest, TheErrorIsWithinTheStatedBound) {
  EXPECT_TRUE(rc::check("any terms of one length", [] {
    const auto in = *rc::gen::container<std::vector<float>>(
        rc::gen::map(rc::gen::inRange(-1000000, 1000000),
                     [](int value) { return static_cast<float>(value) * 1.1F; }));
    const auto n = static_cast<int64_t>(in.size());
    std::vector<double> partial(static_cast<size_t>(PartialSums(n)));
    long double sum = 0;
    long double magnitude = 0;
    for (const float value : in) {
      sum += static_cast<long double>(value);
      magnitude += std::abs(static_cast<long double>(value));
    }
    const double error = std::abs(SumOf(in.data(), n, partial.data()) - static_cast<double>(sum));
    RC_ASSERT(error <= SumTolerance<float>() * static_cast<double>(magnitude));
  }));
}

}  // namespace
}  // namespace muster::kernels

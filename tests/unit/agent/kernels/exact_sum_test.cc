#include "agent/kernels/heat/exact_sum.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace muster::kernels {
namespace {

double SumOf(const std::vector<double>& terms) {
  ExactSum sum;
  for (const double term : terms) {
    sum.Add(term);
  }
  return sum.Value();
}

TEST(ExactSumTest, OneTermComesBackUnchanged) {
  for (const double term :
       {0.0, 1.0, 0.1, 1e-300, 1e300, std::numeric_limits<double>::denorm_min(),
        std::numeric_limits<double>::min(), std::numeric_limits<double>::max(),
        0x1.fffffffffffffp-1, 0x1.0000000000001p-1022, 4294967296.0, 0x1p-1042, 0x1p-1041}) {
    EXPECT_EQ(SumOf({term}), term);
  }
}

TEST(ExactSumTest, SmallTermsAreNotLostBesideALargeOne) {
  std::vector<double> terms(1024, 0x1p-53);
  terms.insert(terms.begin(), 1.0);
  EXPECT_EQ(SumOf(terms), 1.0 + 0x1p-43);
  double naive = 0;
  for (const double term : terms) {
    naive += term;
  }
  EXPECT_EQ(naive, 1.0) << "the ordinary sum does lose them";
}

TEST(ExactSumTest, RoundsOnceToNearestEven) {
  EXPECT_EQ(SumOf({1.0, 0x1p-53}), 1.0) << "a tie goes to the even neighbour";
  EXPECT_EQ(SumOf({1.0, 0x1p-53, 0x1p-1074}), 1.0 + 0x1p-52) << "anything more than a tie goes up";
  EXPECT_EQ(SumOf({1.0 + 0x1p-52, 0x1p-53}), 1.0 + 0x1p-51) << "a tie goes to the even neighbour";
}

TEST(ExactSumTest, BeyondTheRangeIsInfinityAndBadTermsAreNotANumber) {
  const double max = std::numeric_limits<double>::max();
  EXPECT_EQ(SumOf({max, max}), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(SumOf({1.0, std::numeric_limits<double>::quiet_NaN()})));
  EXPECT_TRUE(std::isnan(SumOf({std::numeric_limits<double>::infinity()})));
  EXPECT_TRUE(std::isnan(SumOf({-1.0})));
  EXPECT_EQ(SumOf({-0.0}), 0.0);
}

// Any finite non-negative double, all exponents alike.
rc::Gen<double> AnyTerm() {
  return rc::gen::map(rc::gen::inRange<uint64_t>(0, uint64_t{0x7ff} << 52),
                      [](uint64_t bits) { return std::bit_cast<double>(bits); });
}

RC_GTEST_PROP(ExactSumProperty, TheOrderOfTheTermsDoesNotMatter, ()) {
  std::vector<double> terms = *rc::gen::container<std::vector<double>>(AnyTerm());
  const double sum = SumOf(terms);
  std::shuffle(terms.begin(), terms.end(), std::mt19937_64(*rc::gen::arbitrary<uint64_t>()));
  RC_ASSERT(SumOf(terms) == sum);
}

RC_GTEST_PROP(ExactSumProperty, SumsOfPartsMakeTheWholeByMergeAndBySlots, ()) {
  const std::vector<double> terms = *rc::gen::container<std::vector<double>>(AnyTerm());
  const size_t parts = *rc::gen::inRange<size_t>(1, 5);
  std::vector<ExactSum> sums(parts);
  for (size_t i = 0; i < terms.size(); ++i) {
    sums[i % parts].Add(terms[i]);
  }
  ExactSum merged;
  ExactSum::Slots slots{};
  for (const ExactSum& sum : sums) {
    merged.Merge(sum);
    const ExactSum::Slots own = sum.NormalisedSlots();
    std::transform(own.begin(), own.end(), slots.begin(), slots.begin(), std::plus<>());
  }
  RC_ASSERT(merged.Value() == SumOf(terms));
  RC_ASSERT(ExactSum::FromSlots(slots).Value() == SumOf(terms));
}

RC_GTEST_PROP(ExactSumProperty, WholeNumbersAddUpAsIntegers, ()) {
  const auto terms = *rc::gen::container<std::vector<uint32_t>>(rc::gen::arbitrary<uint32_t>());
  const uint64_t expected = std::accumulate(terms.begin(), terms.end(), uint64_t{0});
  RC_ASSERT(SumOf(std::vector<double>(terms.begin(), terms.end())) ==
            static_cast<double>(expected));
}

RC_GTEST_PROP(ExactSumProperty, TwoTermsRoundAsTheProcessorRounds, ()) {
  const double a = *AnyTerm();
  const double b = *AnyTerm();
  RC_ASSERT(SumOf({a, b}) == a + b);
}

}  // namespace
}  // namespace muster::kernels

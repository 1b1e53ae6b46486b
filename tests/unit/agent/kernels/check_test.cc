#include "agent/kernels/harness/check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace muster::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ErrorOfTest, NoNumberIsInfinitelyWrong) {
  EXPECT_EQ(ErrorOf(1, 3), 2);
  EXPECT_EQ(ErrorOf(NAN, 3), kInfinity);
  EXPECT_EQ(ErrorOf(3, NAN), kInfinity);
  EXPECT_EQ(ErrorOf(kInfinity, kInfinity), 0);
  EXPECT_EQ(ErrorOf(kInfinity, -kInfinity), kInfinity);
}

TEST(LargestErrorTest, ArraysOfDifferentSizesNeverAgree) {
  const std::vector<float> two = {1, 2};
  const std::vector<float> three = {1, 2, 3};
  EXPECT_EQ(LargestError<float>(two, three), kInfinity);
  EXPECT_EQ(LargestError<float>(two, two), 0);
}

TEST(CheckTest, ComparingNothingIsNoPass) {
  EXPECT_FALSE(Check().ok());
}

TEST(CheckTest, TheFirstFailureIsTold) {
  Check check;
  check.Hold("a", 1, 2);
  EXPECT_TRUE(check.ok());
  check.Hold("b", 3, 2);
  check.Hold("c", NAN, 2);
  EXPECT_FALSE(check.ok());
  EXPECT_EQ(check.failure(), "b: error 3, tolerance 2");
  EXPECT_EQ(check.cases(), 3);
  EXPECT_EQ(check.max_error(), kInfinity);
}

TEST(CheckTest, WithoutToleranceOnlyEqualityPasses) {
  Check check;
  check.Hold("a", 0, 0);
  EXPECT_TRUE(check.ok());
  EXPECT_EQ(check.worst(), 0);
  check.Hold("b", 1e-300, 0);
  EXPECT_FALSE(check.ok());
}

}  // namespace
}  // namespace muster::kernels

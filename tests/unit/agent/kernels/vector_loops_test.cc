#include "agent/kernels/cpu/vector_loops.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "agent/kernels/place/memory.h"

namespace muster::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(VectorLoopsTest, TheHandWorkedTriadLeavesWhatWasNotAskedFor) {
  for (const Stores stores : {Stores::kOrdinary, Stores::kStreaming}) {
    alignas(64) std::array<double, 3> a = {-1, -1, -1};
    const std::array<double, 3> b = {1, 2, 3};
    const std::array<double, 3> c = {10, 20, 0.5};
    TriadLoop(b.data(), 4, c.data(), a.data(), 2, stores);
    EXPECT_EQ(a[0], 41);
    EXPECT_EQ(a[1], 82);
    EXPECT_EQ(a[2], -1) << "the third element was not asked for";
  }
}

TEST(VectorLoopsTest, EveryLengthAndAlignmentGivesTheScalarResult) {
  for (int64_t n = 0; n <= 70; ++n) {
    for (int64_t shift = 0; shift < 3; ++shift) {
      for (const Stores stores : {Stores::kOrdinary, Stores::kStreaming}) {
        Aligned<double> in(n + shift);
        Aligned<double> out(n + shift);
        for (int64_t i = 0; i < n; ++i) {
          in.data()[shift + i] = std::sqrt(static_cast<double>(i));
        }
        ScaleLoop(0.1, in.data() + shift, out.data() + shift, n, stores);
        for (int64_t i = 0; i < n; ++i) {
          ASSERT_EQ(out.data()[shift + i], 0.1 * std::sqrt(static_cast<double>(i))) << n;
        }
        CopyLoop(in.data() + shift, out.data() + shift, n, stores);
        for (int64_t i = 0; i < n; ++i) {
          ASSERT_EQ(out.data()[shift + i], in.data()[shift + i]) << n;
        }
      }
    }
  }
}

TEST(VectorLoopsTest, ExtremesBehaveAsTheArithmeticSays) {
  const std::vector<double> left(9, std::numeric_limits<double>::max());
  std::vector<double> out(9, 0);
  AddLoop(left.data(), left.data(), out.data(), 9, Stores::kOrdinary);
  for (const double value : out) {
    EXPECT_EQ(value, kInfinity);
  }
  const std::vector<double> tiny(9, std::numeric_limits<double>::denorm_min());
  ScaleLoop(1, tiny.data(), out.data(), 9, Stores::kOrdinary);
  for (const double value : out) {
    EXPECT_EQ(value, std::numeric_limits<double>::denorm_min()) << "denormals are not flushed";
  }
  const std::vector<double> none(9, std::numeric_limits<double>::quiet_NaN());
  AddLoop(none.data(), left.data(), out.data(), 9, Stores::kOrdinary);
  for (const double value : out) {
    EXPECT_TRUE(std::isnan(value));
  }
}

TEST(VectorLoopsTest, AxpyAddsInPlace) {
  const std::vector<float> x = {1, 2, 3, 4, 5};
  std::vector<float> y = {10, 20, 30, 40, 50};
  AxpyLoop(0.5F, x.data(), y.data(), 4);
  EXPECT_EQ(y, (std::vector<float>{10.5F, 21, 31.5F, 42, 50}));
}

TEST(VectorLoopsTest, TheArithmeticPeakCountsWhatItDid) {
  float sink = 0;
  const double flop = FmaLoop(100, &sink);
  EXPECT_GT(flop, 0);
  EXPECT_DOUBLE_EQ(FmaLoop(200, &sink), 2 * flop);
  EXPECT_TRUE(std::isfinite(sink));
}

TEST(VectorLoopsTest, TheSimdHasAName) {
  EXPECT_STRNE(SimdName(), "");
}

}  // namespace
}  // namespace muster::kernels

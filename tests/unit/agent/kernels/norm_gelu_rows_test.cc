#include "agent/kernels/cpu/norm_gelu_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace muster::kernels {
namespace {

std::vector<float> Fused(const std::vector<float>& in, int64_t columns, float gamma, float beta,
                         float scale) {
  const auto size = static_cast<size_t>(columns);
  const std::vector<float> gammas(size, gamma);
  const std::vector<float> betas(size, beta);
  std::vector<float> out(in.size(), NAN);
  NormGeluScale({in.data(), out.data(), static_cast<int64_t>(in.size()) / columns, columns},
                {gammas.data(), betas.data(), scale});
  return out;
}

TEST(NormGeluTest, ThreeElementsComeOutAsWorkedByHand) {
  // Mean 2, variance 2/3: units -1.2247357, 0, 1.2247357 (with epsilon 1e-5).
  const std::vector<float> out = Fused({1, 2, 3}, 3, 1, 0, 1);
  EXPECT_NEAR(out[0], -0.135353, 2e-6);
  EXPECT_EQ(out[1], 0);
  EXPECT_NEAR(out[2], 1.089383, 2e-6);
}

TEST(NormGeluTest, EachRowIsNormalisedByItself) {
  std::vector<float> in;
  for (int i = 0; i < 33; ++i) {
    in.push_back(static_cast<float>(i));
  }
  for (int i = 0; i < 33; ++i) {
    in.push_back(static_cast<float>(i) * 100 - 7);
  }
  const std::vector<float> out = Fused(in, 33, 1.5F, 0.25F, 2);
  for (size_t i = 0; i < 33; ++i) {
    EXPECT_NEAR(out[i], out[33 + i], 1e-4) << "scale and shift of a row change nothing";
  }
}

TEST(NormGeluTest, LargeValuesPassAndSmallOnesVanish) {
  const std::vector<float> high = Fused(std::vector<float>(9, 4), 9, 1, 50, 1);
  const std::vector<float> low = Fused(std::vector<float>(9, 4), 9, 1, -50, 1);
  for (size_t i = 0; i < 9; ++i) {
    EXPECT_FLOAT_EQ(high[i], 50);
    EXPECT_NEAR(low[i], 0, 1e-30);
  }
}

TEST(NormGeluTest, TheThreePassesGiveWhatTheOneGives) {
  for (int64_t columns = 1; columns <= 40; ++columns) {
    std::vector<float> in;
    for (int64_t i = 0; i < 3 * columns; ++i) {
      in.push_back(std::sin(static_cast<float>(i)));
    }
    const std::vector<float> fused = Fused(in, columns, 1.25F, -0.5F, 0.75F);
    const std::vector<float> gammas(static_cast<size_t>(columns), 1.25F);
    const std::vector<float> betas(static_cast<size_t>(columns), -0.5F);
    std::vector<float> out(in.size(), NAN);
    NormRows({in.data(), out.data(), 3, columns}, {gammas.data(), betas.data(), 0.75F});
    GeluRows({out.data(), out.data(), 3, columns});
    ScaleRows({out.data(), out.data(), 3, columns}, 0.75F);
    EXPECT_EQ(out, fused) << columns;
  }
}

}  // namespace
}  // namespace muster::kernels

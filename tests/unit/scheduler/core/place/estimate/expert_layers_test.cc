#include "scheduler/core/place/estimate/expert_layers.h"

#include <gtest/gtest.h>

#include <limits>

namespace muster::core {
namespace {

constexpr ExpertShape kMixtral{
    .layers = 32, .experts = 8, .active = 2, .hidden = 4096, .inner = 14336};

// Mistral AI, "Mixtral of experts": 46.7 billion parameters in all, 12.9 billion for each token.
TEST(ExpertLayers, MixtralUsesAsManyParametersAsItsMakersSay) {
  EXPECT_NEAR(static_cast<double>(ActiveParameters(46'700'000'000, kMixtral)) / 1e9, 12.9, 0.05);
}

// DeepSeek-V3 (arXiv 2412.19437): 671 billion in all, 37 for each token. 58 layers have 256 experts
// of 2048, of which 8 are chosen; the shared expert counts as dense.
TEST(ExpertLayers, DeepSeekUsesAsManyParametersAsItsReportSays) {
  const ExpertShape shape{.layers = 58, .experts = 256, .active = 8, .hidden = 7168, .inner = 2048};
  EXPECT_NEAR(static_cast<double>(ActiveParameters(671'000'000'000, shape)) / 1e9, 37, 0.6);
}

TEST(ExpertLayers, ABatchUsesMoreExpertsThanATokenAndAtLastAll) {
  EXPECT_DOUBLE_EQ(UsedExperts(kMixtral, 1), 0.25);
  EXPECT_DOUBLE_EQ(UsedExperts(kMixtral, 2), 0.4375);
  EXPECT_NEAR(UsedExperts(kMixtral, 64), 1, 1e-7);
}

TEST(ExpertLayers, WhatDoesNotFitSixtyFourBitsIsRefused) {
  ExpertShape shape = kMixtral;
  EXPECT_EQ(ExpertParameters(shape), 45'097'156'608U);
  shape.inner = std::numeric_limits<std::uint64_t>::max();
  EXPECT_FALSE(ExpertParameters(shape).has_value());
}

}  // namespace
}  // namespace muster::core

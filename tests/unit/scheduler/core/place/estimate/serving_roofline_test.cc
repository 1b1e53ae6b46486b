#include "scheduler/core/place/estimate/serving_roofline.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

namespace muster::core {
namespace {

ServedModel Llama70() {
  return {.parameters = 70'000'000'000,
          .weight_bits = 16,
          .experts = std::nullopt,
          .layers = 80,
          .kv_heads = 8,
          .head_size = 128,
          .kv_bits = 16};
}

ServedModel Llama7() {
  return {.parameters = 6'740'000'000,
          .weight_bits = 16,
          .experts = std::nullopt,
          .layers = 32,
          .kv_heads = 32,
          .head_size = 128,
          .kv_bits = 16};
}

// W. Kwon et al., PagedAttention (arXiv 2309.06180), section 3: OPT-13B, 40 layers of 5120, takes
// 800 KB a token and 1.6 GB for 2048 tokens.
TEST(ServingRoofline, TheKvCacheOfOptIsThatOfVllmsPaper) {
  ServedModel opt = Llama7();
  opt.layers = 40;
  opt.kv_heads = 40;
  const std::uint64_t token = KvBytesPerToken(opt)->value();
  EXPECT_EQ(token, 800U * 1024);
  EXPECT_NEAR(static_cast<double>(token) * 2048 / (1 << 30), 1.6, 0.05);
}

// draft-calabria-bmwg-ai-fabric-inference-bench, appendix: 70 billion parameters with 8 key/value
// heads and 4096 tokens take 1,342,177,280 bytes.
TEST(ServingRoofline, GroupedHeadsKeepWhatTheirDraftSays) {
  EXPECT_EQ(KvBytesPerToken(Llama70())->value() * 4096, 1'342'177'280U);
}

// PyTorch, "Accelerating generative AI with PyTorch II": LLaMA-7B in 16 bits, 107 tokens a second
// on an A100 with 2 TB/s are 72 % of what its bandwidth allows.
TEST(ServingRoofline, DecodeIsBoundByBandwidthAsPyTorchMeasured) {
  const ServingGpus a100{.count = 1, .flops = 312e12, .bytes_per_second = 2e12};
  const double ceiling = 1 / DecodeSeconds(Llama7(), a100, 1, 0);
  EXPECT_NEAR(107 / ceiling, 0.72, 0.005);
}

TEST(ServingRoofline, PrefillIsBoundByOperationsAndShortPromptsByBandwidth) {
  const ServingGpus gpus{.count = 4, .flops = 300e12, .bytes_per_second = 2e12};
  EXPECT_DOUBLE_EQ(PrefillSeconds(Llama70(), gpus, 4096), 2 * 70e9 * 4096 / (4 * 300e12));
  EXPECT_DOUBLE_EQ(PrefillSeconds(Llama70(), gpus, 1), 140e9 / (4 * 2e12));
}

TEST(ServingRoofline, ATokenOfAMixtureReadsItsExpertsAlone) {
  ServedModel mixtral = Llama7();
  mixtral.parameters = 46'700'000'000;
  mixtral.experts =
      ExpertShape{.layers = 32, .experts = 8, .active = 2, .hidden = 4096, .inner = 14336};
  const ServingGpus gpus{.count = 1, .flops = 1e15, .bytes_per_second = 1e12};
  // "At the same speed as a 12.9 billion parameter model", say its makers.
  EXPECT_NEAR(DecodeSeconds(mixtral, gpus, 1, 0), 2 * 12.9e-3, 1e-4);
  EXPECT_NEAR(DecodeSeconds(mixtral, gpus, 200, 0), 2 * 46.7e-3, 1e-4);
}

TEST(ServingRoofline, SequencesFitBesideTheWeights) {
  constexpr Bytes kMemory{std::uint64_t{160} << 30};
  const std::uint64_t fit = SequencesThatFit(Llama70(), kMemory, 4096);
  EXPECT_EQ(fit, ((std::uint64_t{160} << 30) - 140'000'000'000) / 1'342'177'280);
  EXPECT_EQ(SequencesThatFit(Llama70(), Bytes(140'000'000'000), 4096), 0U);
}

TEST(ServingRoofline, WhatDoesNotFitSixtyFourBitsIsRefused) {
  ServedModel model = Llama70();
  model.parameters = std::numeric_limits<std::uint64_t>::max();
  EXPECT_FALSE(WeightBytes(model).has_value());
  model.kv_heads = std::uint64_t{1} << 60;
  EXPECT_FALSE(KvBytesPerToken(model).has_value());
  EXPECT_EQ(SequencesThatFit(model, Bytes(1), 1), 0U);
}

TEST(ServingRooflineProperty, LargerBatchesWriteMoreTokensAndEachWaitsLonger) {
  EXPECT_TRUE(rc::check([] {
    const ServingGpus gpus{.count = static_cast<double>(*rc::gen::inRange(1, 9)),
                           .flops = 1e12 * *rc::gen::inRange(50, 1000),
                           .bytes_per_second = 1e9 * *rc::gen::inRange(300, 5000)};
    const auto prompt = static_cast<double>(*rc::gen::inRange(1, 8192));
    const auto output = static_cast<double>(*rc::gen::inRange(1, 4096));
    const auto batch = static_cast<double>(*rc::gen::inRange(1, 256));
    const FullServing less = ServeFull(Llama70(), gpus, batch, prompt, output);
    const FullServing more = ServeFull(Llama70(), gpus, batch + 1, prompt, output);
    RC_ASSERT(more.tokens_per_second >= less.tokens_per_second * (1 - 1e-9));
    RC_ASSERT(more.request_seconds >= less.request_seconds);
  }));
}

}  // namespace
}  // namespace muster::core

#include "scheduler/core/place/worth/model_memory.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>
#include <vector>

namespace muster::core {
namespace {

using Strategy = ShardingStrategy;

constexpr std::uint64_t kMillion = 1'000'000;

TrainingSetup SevenBillion(Strategy strategy, std::uint32_t gpus) {
  TrainingSetup setup;
  setup.parameters = 7000 * kMillion;
  setup.strategy = strategy;
  setup.data_parallel = gpus;
  return setup;
}

std::vector<std::uint64_t> Megabytes(const TrainingSetup& setup) {
  const TrainingMemory memory = MemoryOf(setup).value();
  return {memory.weights.value() / kMillion, memory.gradients.value() / kMillion,
          memory.optimizer.value() / kMillion};
}

TEST(ModelMemory, SevenBillionParametersTakeWhatTheIssueSays) {
  using Parts = std::vector<std::uint64_t>;
  EXPECT_EQ(Megabytes(SevenBillion(Strategy::kDdp, 8)), (Parts{14'000, 14'000, 84'000}));
  EXPECT_EQ(Megabytes(SevenBillion(Strategy::kZero1, 8)), (Parts{14'000, 14'000, 10'500}));
  EXPECT_EQ(Megabytes(SevenBillion(Strategy::kZero2, 8)), (Parts{14'000, 1'750, 10'500}));
  EXPECT_EQ(Megabytes(SevenBillion(Strategy::kZero3, 8)), (Parts{1'750, 1'750, 10'500}));
  EXPECT_EQ(MemoryOf(SevenBillion(Strategy::kDdp, 8))->total, Bytes(112'000 * kMillion));
}

// ZeRO, figure 1: 7.5 billion parameters on 64 ranks: 120, 31.4, 16.6 and 1.9 GB.
TEST(ModelMemory, TheFigureOfTheZeroPaperComesOut) {
  TrainingSetup setup = SevenBillion(Strategy::kDdp, 64);
  setup.parameters = 7500 * kMillion;
  const auto gigabytes = [&setup](Strategy strategy) {
    setup.strategy = strategy;
    return static_cast<double>(MemoryOf(setup)->total.value()) / 1e9;
  };
  EXPECT_DOUBLE_EQ(gigabytes(Strategy::kDdp), 120);
  EXPECT_NEAR(gigabytes(Strategy::kZero1), 31.4, 0.05);
  EXPECT_NEAR(gigabytes(Strategy::kZero2), 16.6, 0.05);
  EXPECT_NEAR(gigabytes(Strategy::kZero3), 1.9, 0.05);
}

TEST(ModelMemory, TheOptimizerSetsItsOwnBytes) {
  EXPECT_EQ(OptimizerBytesOf(Optimizer::kAdam, NumberType::kBf16), 12U);
  EXPECT_EQ(OptimizerBytesOf(Optimizer::kAdam, NumberType::kFp32), 8U);
  EXPECT_EQ(OptimizerBytesOf(Optimizer::kAdam8Bit, NumberType::kFp16), 6U);
  EXPECT_EQ(OptimizerBytesOf(Optimizer::kSgd, NumberType::kBf16), 4U);
  EXPECT_EQ(OptimizerBytesOf(Optimizer::kSgd, NumberType::kFp32), 0U);
  EXPECT_EQ(OptimizerBytesOf(Optimizer::kSgdMomentum, NumberType::kBf16), 8U);
}

// GPT-3 as in Korthikanti et al., table 3: a = 96, h = 12288, L = 96, s = 2048, b = 1, t = 8.
TrainingSetup Gpt3() {
  TrainingSetup setup;
  setup.parameters = 175'000 * kMillion;
  setup.tensor_parallel = 8;
  setup.pipeline_parallel = 8;
  setup.shape = TransformerShape{
      .micro_batch = 1, .sequence = 2048, .hidden = 12288, .layers = 96, .heads = 96};
  return setup;
}

TEST(ModelMemory, ActivationsAreThoseOfTheEquations) {
  const double sbh = 2048.0 * 12288;
  const double scores = 5 * 96 * 2048.0 / 12288;  // 5 a s / h = 80, as the paper says
  EXPECT_DOUBLE_EQ(scores, 80);
  const auto per_layer = [sbh](const TrainingSetup& setup) {
    return static_cast<double>(MemoryOf(setup)->activations.value()) / 96 / sbh;
  };
  TrainingSetup setup = Gpt3();
  EXPECT_DOUBLE_EQ(per_layer(setup), 10 + 24.0 / 8 + scores / 8);  // equation 2
  setup.sequence_parallel = true;
  EXPECT_DOUBLE_EQ(per_layer(setup), (34 + scores) / 8);  // equation 4
  setup.recomputation = Recomputation::kSelective;
  EXPECT_DOUBLE_EQ(per_layer(setup), 34.0 / 8);  // equation 6
  setup.sequence_parallel = false;
  setup.recomputation = Recomputation::kFull;
  EXPECT_DOUBLE_EQ(per_layer(setup), 2);
  setup.tensor_parallel = 1;
  setup.recomputation = Recomputation::kNone;
  EXPECT_DOUBLE_EQ(per_layer(setup), 34 + scores);  // equation 1
  setup.number_type = NumberType::kFp32;
  EXPECT_DOUBLE_EQ(per_layer(setup), 66 + 9 * 16);  // (16e + 2) and (2e + 1) a s / h with e = 4
}

TEST(ModelMemory, WithoutAShapeActivationsAreNotCounted) {
  EXPECT_TRUE(MemoryOf(SevenBillion(Strategy::kDdp, 1))->activations.zero());
}

TEST(ModelMemory, WhatDoesNotFitSixtyFourBitsIsRefused) {
  TrainingSetup setup = SevenBillion(Strategy::kDdp, 1);
  setup.parameters = std::numeric_limits<std::uint64_t>::max();
  EXPECT_FALSE(MemoryOf(setup).has_value());
  EXPECT_FALSE(GradientBytes(setup).has_value());
  setup = Gpt3();
  setup.shape->sequence = std::uint64_t{1} << 40;
  EXPECT_FALSE(MemoryOf(setup).has_value());
  setup.shape->sequence = std::uint64_t{1} << 31;
  EXPECT_FALSE(MemoryOf(setup).has_value());
}

TEST(ModelMemory, TheLeastNumberOfGpusFitsAndOneLessDoesNot) {
  const Bytes eighty(80'000 * kMillion);
  // 112 GB never fit; ZeRO-1 needs 28 GB and 84/n; ZeRO-3 112/n.
  EXPECT_FALSE(LeastDataParallel(SevenBillion(Strategy::kDdp, 1), eighty, 1000).has_value());
  EXPECT_EQ(LeastDataParallel(SevenBillion(Strategy::kZero1, 1), eighty, 1000), 2U);
  EXPECT_EQ(LeastDataParallel(SevenBillion(Strategy::kZero3, 1), Bytes(10'000 * kMillion), 1000),
            12U);
  EXPECT_FALSE(LeastDataParallel(SevenBillion(Strategy::kZero3, 1), Bytes(10'000 * kMillion), 11)
                   .has_value());
  EXPECT_FALSE(LeastDataParallel(SevenBillion(Strategy::kZero3, 1), eighty, 0).has_value());
}

TrainingSetup AnySetup() {
  TrainingSetup setup;
  setup.parameters = *rc::gen::inRange<std::uint64_t>(1, 2'000'000 * kMillion);
  setup.number_type = *rc::gen::element(NumberType::kFp32, NumberType::kFp16, NumberType::kBf16);
  setup.optimizer = *rc::gen::element(Optimizer::kAdam, Optimizer::kAdam8Bit, Optimizer::kSgd,
                                      Optimizer::kSgdMomentum);
  setup.strategy =
      *rc::gen::element(Strategy::kDdp, Strategy::kZero1, Strategy::kZero2, Strategy::kZero3);
  setup.data_parallel = *rc::gen::inRange<std::uint32_t>(1, 2000);
  setup.tensor_parallel = *rc::gen::inRange<std::uint32_t>(1, 17);
  setup.pipeline_parallel = *rc::gen::inRange<std::uint32_t>(1, 33);
  setup.sequence_parallel = *rc::gen::arbitrary<bool>();
  setup.recomputation =
      *rc::gen::element(Recomputation::kNone, Recomputation::kSelective, Recomputation::kFull);
  if (*rc::gen::arbitrary<bool>()) {
    setup.shape = TransformerShape{.micro_batch = *rc::gen::inRange<std::uint64_t>(1, 64),
                                   .sequence = *rc::gen::inRange<std::uint64_t>(1, 1 << 17),
                                   .hidden = *rc::gen::inRange<std::uint64_t>(1, 1 << 15),
                                   .layers = *rc::gen::inRange<std::uint64_t>(1, 200),
                                   .heads = *rc::gen::inRange<std::uint64_t>(1, 256)};
  }
  return setup;
}

TEST(ModelMemoryProperty, TheTotalIsTheSumOfItsParts) {
  EXPECT_TRUE(rc::check([] {
    const auto memory = MemoryOf(AnySetup());
    RC_ASSERT(memory.has_value());
    RC_ASSERT(memory->total ==
              memory->weights + memory->gradients + memory->optimizer + memory->activations);
  }));
}

TEST(ModelMemoryProperty, EachStageOfZeroNeedsNoMoreThanTheOneBefore) {
  EXPECT_TRUE(rc::check([] {
    TrainingSetup setup = AnySetup();
    Bytes before(std::numeric_limits<std::uint64_t>::max());
    for (const Strategy strategy :
         {Strategy::kDdp, Strategy::kZero1, Strategy::kZero2, Strategy::kZero3}) {
      setup.strategy = strategy;
      const Bytes total = MemoryOf(setup)->total;
      RC_ASSERT(total <= before);
      before = total;
    }
  }));
}

TEST(ModelMemoryProperty, AllShardsTogetherHoldTheWholeAndLittleMore) {
  EXPECT_TRUE(rc::check([] {
    TrainingSetup setup = AnySetup();
    setup.strategy = Strategy::kZero3;
    const TrainingMemory one = MemoryOf(setup).value();
    const std::uint64_t gpus =
        std::uint64_t{setup.data_parallel} * setup.tensor_parallel * setup.pipeline_parallel;
    const std::uint64_t bytes = BytesOf(setup.number_type);
    RC_ASSERT(one.weights.value() * gpus >= setup.parameters * bytes);
    RC_ASSERT(one.weights.value() * gpus < (setup.parameters + 2 * gpus) * bytes);
  }));
}

TEST(ModelMemoryProperty, TheLeastDegreeIsTheLeast) {
  EXPECT_TRUE(rc::check([] {
    TrainingSetup setup = AnySetup();
    const Bytes memory(*rc::gen::inRange<std::uint64_t>(1, 200'000 * kMillion));
    const auto least = LeastDataParallel(setup, memory, 4096);
    setup.data_parallel = least.value_or(4096);
    RC_ASSERT((MemoryOf(setup)->total <= memory) == least.has_value());
    if (least && *least > 1) {
      setup.data_parallel = *least - 1;
      RC_ASSERT(MemoryOf(setup)->total > memory);
    }
  }));
}

}  // namespace
}  // namespace muster::core

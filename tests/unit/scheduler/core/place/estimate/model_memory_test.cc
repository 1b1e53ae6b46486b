#include "scheduler/core/place/estimate/model_memory.h"

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

// Gibibytes, which DeepSpeed's documents call GB.
double Gibibytes(Bytes bytes) {
  return static_cast<double>(bytes.value()) / (1 << 30);
}

TrainingSetup ThreeBillion(Strategy strategy) {
  TrainingSetup setup = SevenBillion(strategy, 8);
  setup.parameters = 2851 * kMillion;
  setup.offload.optimizer = StatePlace::kHost;
  return setup;
}

// DeepSpeed, "Memory requirements", its estimator for T5-3B (2851 million parameters, 32 in the
// largest layer) on 8 GPUs: 5.31 GB of each with ZeRO-2 and the optimizer on the host; with ZeRO-3
// 0.78 GB, of which 0.12 are the largest layer, and these alone with the weights on the host, too.
TEST(ModelMemory, OffloadLeavesOnTheGpuWhatDeepSpeedSays) {
  EXPECT_NEAR(Gibibytes(MemoryOf(ThreeBillion(Strategy::kZero2))->total), 5.31, 0.005);
  TrainingSetup setup = ThreeBillion(Strategy::kZero3);
  // 4 h^2 = 32.0 million.
  setup.shape =
      TransformerShape{.micro_batch = 1, .sequence = 1, .hidden = 2829, .layers = 1, .heads = 1};
  const auto states = [&setup] {
    const TrainingMemory memory = MemoryOf(setup).value();
    return Gibibytes(memory.total - memory.activations);
  };
  EXPECT_NEAR(states(), 0.78, 0.005);
  setup.offload.weights = StatePlace::kHost;
  EXPECT_NEAR(states(), 0.12, 0.005);
}

// ZeRO-Offload, section 4: of 16 bytes for each parameter 2 stay on the GPU and 14 move, so that 13
// billion parameters train on one V100 with 32 GB (its abstract).
TEST(ModelMemory, OffloadMovesFourteenOfSixteenBytes) {
  TrainingSetup setup = SevenBillion(Strategy::kZero2, 1);
  setup.parameters = 13'000 * kMillion;
  setup.offload.optimizer = StatePlace::kHost;
  const TrainingMemory memory = MemoryOf(setup).value();
  EXPECT_EQ(memory.total, Bytes(2 * setup.parameters));
  EXPECT_EQ(memory.host, Bytes(14 * setup.parameters));
  EXPECT_LT(Gibibytes(memory.total), 32);
  setup.offload.optimizer = StatePlace::kNvme;
  EXPECT_EQ(MemoryOf(setup)->nvme, memory.host);
  EXPECT_TRUE(MemoryOf(setup)->host.zero());
}

TEST(ModelMemory, CheckpointsOnTheHostLeaveOneLayersActivations) {
  TrainingSetup setup = Gpt3();
  setup.recomputation = Recomputation::kFull;
  const TrainingMemory before = MemoryOf(setup).value();
  setup.offload.activations = true;
  const TrainingMemory after = MemoryOf(setup).value();
  EXPECT_EQ(after.host, Bytes(2ULL * 2048 * 12288 * 96));
  EXPECT_EQ(after.total + after.host, before.total);
  EXPECT_EQ(after.working, Bytes(2048ULL * 12288 * (10 + 3 + 10)));  // equation 2
}

// Mixtral 8x7B as its file of settings says.
TrainingSetup Mixtral() {
  TrainingSetup setup;
  setup.parameters = 46'700 * kMillion;
  setup.strategy = Strategy::kDdp;
  setup.data_parallel = 8;
  setup.experts =
      ExpertShape{.layers = 32, .experts = 8, .active = 2, .hidden = 4096, .inner = 14336};
  return setup;
}

TEST(ModelMemory, ExpertsAreDividedByTheirOwnDegree) {
  TrainingSetup setup = Mixtral();
  EXPECT_EQ(MemoryOf(setup)->weights, Bytes(2 * setup.parameters));
  const std::uint64_t experts = ExpertParameters(*setup.experts).value();
  setup.expert_parallel = 8;
  EXPECT_EQ(MemoryOf(setup)->weights, Bytes(2 * (setup.parameters - experts + experts / 8)));
  // All of it is sharded over all GPUs by ZeRO-3, however the experts are divided.
  setup.strategy = Strategy::kZero3;
  EXPECT_EQ(MemoryOf(setup)->optimizer, Bytes(12 * (setup.parameters / 8)));
}

TEST(ModelMemory, EachExpertOfATokenKeepsTheMlpsActivations) {
  TrainingSetup setup = Mixtral();
  setup.shape = TransformerShape{
      .micro_batch = 1, .sequence = 128, .hidden = 4096, .layers = 32, .heads = 32};
  const Bytes two = MemoryOf(setup)->activations;
  setup.experts->active = 1;
  EXPECT_EQ(two - MemoryOf(setup)->activations, Bytes(128ULL * 4096 * 18 * 32));
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
  setup = Gpt3();
  setup.strategy = Strategy::kZero3;
  setup.recomputation = Recomputation::kSelective;
  setup.shape = TransformerShape{
      .micro_batch = 1, .sequence = 1, .hidden = std::uint64_t{1} << 50, .layers = 1, .heads = 1};
  EXPECT_FALSE(MemoryOf(setup).has_value()) << "the largest matrix";
  setup.shape->hidden = (std::uint64_t{1} << 62) + 1;
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
    RC_ASSERT(memory->total == memory->weights + memory->gradients + memory->optimizer +
                                   memory->activations + memory->working);
  }));
}

TEST(ModelMemoryProperty, EachStageOfZeroNeedsNoMoreThanTheOneBefore) {
  EXPECT_TRUE(rc::check([] {
    TrainingSetup setup = AnySetup();
    Bytes before(std::numeric_limits<std::uint64_t>::max());
    for (const Strategy strategy :
         {Strategy::kDdp, Strategy::kZero1, Strategy::kZero2, Strategy::kZero3}) {
      setup.strategy = strategy;
      const TrainingMemory memory = MemoryOf(setup).value();
      const Bytes states = memory.total - memory.working;  // which stage 3 gathers layer by layer
      RC_ASSERT(states <= before);
      before = states;
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

TEST(ModelMemoryProperty, OffloadMovesAndLosesNothing) {
  EXPECT_TRUE(rc::check([] {
    TrainingSetup setup = AnySetup();
    const Bytes before = MemoryOf(setup)->total;
    const auto any_place = [] {
      return *rc::gen::element(StatePlace::kGpu, StatePlace::kHost, StatePlace::kNvme);
    };
    setup.offload = {any_place(), any_place(), *rc::gen::arbitrary<bool>()};
    const TrainingMemory memory = MemoryOf(setup).value();
    RC_ASSERT(memory.total + memory.host + memory.nvme == before);
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

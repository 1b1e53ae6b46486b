#include "scheduler/core/place/worth/model_memory.h"

#include <limits>

#include "absl/numeric/int128.h"

namespace muster::core {
namespace {

using Wide = absl::uint128;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

Wide CeilDivide(Wide amount, std::uint64_t parts) {
  return (amount + parts - 1) / parts;
}

// `a * b`; nothing when `a` has left 64 bits, so that no product overflows 128.
std::optional<Wide> Times(std::optional<Wide> a, std::uint64_t b) {
  if (!a || *a > kMost) {
    return std::nullopt;
  }
  return *a * b;
}

std::optional<Bytes> Narrow(std::optional<Wide> bytes) {
  if (!bytes || *bytes > kMost) {
    return std::nullopt;
  }
  return Bytes(absl::Uint128Low64(*bytes));
}

std::uint64_t ParametersOfOne(const TrainingSetup& setup) {
  const std::uint64_t parts = std::uint64_t{setup.tensor_parallel} * setup.pipeline_parallel;
  return absl::Uint128Low64(CeilDivide(setup.parameters, parts));
}

// The bytes of what is `sharded` over the data-parallel ranks, or not.
std::optional<Bytes> StateBytes(const TrainingSetup& setup, std::uint32_t bytes, bool sharded) {
  const Wide parameters =
      CeilDivide(ParametersOfOne(setup), sharded ? setup.data_parallel : std::uint32_t{1});
  return Narrow(Times(parameters, bytes));
}

std::optional<Bytes> ActivationBytes(const TrainingSetup& setup, const TransformerShape& shape) {
  const std::uint64_t e = BytesOf(setup.number_type);
  const std::uint64_t t = setup.tensor_parallel;
  const std::uint64_t undivided = setup.sequence_parallel ? t : 1;
  const std::optional<Wide> tokens = Times(Wide(shape.sequence), shape.micro_batch);
  const std::optional<Wide> sbh = Times(tokens, shape.hidden);
  if (!sbh || *sbh > kMost) {
    return std::nullopt;
  }
  Wide layer = 0;
  if (setup.recomputation == Recomputation::kFull) {
    layer = CeilDivide(*sbh * e, undivided);
  } else {
    layer = CeilDivide(*sbh * (4 * e + 2), undivided) + CeilDivide(*sbh * (12 * e), t);
  }
  if (setup.recomputation == Recomputation::kNone) {
    const std::optional<Wide> scores = Times(Times(tokens, shape.sequence), shape.heads);
    if (!scores || *scores > kMost) {
      return std::nullopt;
    }
    layer += CeilDivide(*scores * (2 * e + 1), t);
  }
  return Narrow(Times(layer, shape.layers));
}

}  // namespace

std::uint32_t BytesOf(NumberType type) {
  return type == NumberType::kFp32 ? 4 : 2;
}

std::uint32_t OptimizerBytesOf(Optimizer optimizer, NumberType type) {
  const std::uint32_t copy = type == NumberType::kFp32 ? 0 : 4;
  switch (optimizer) {
    case Optimizer::kAdam:
      return copy + 8;
    case Optimizer::kAdam8Bit:
      return copy + 2;
    case Optimizer::kSgd:
      return copy;
    case Optimizer::kSgdMomentum:
      return copy + 4;
  }
  return copy;
}

std::optional<TrainingMemory> MemoryOf(const TrainingSetup& setup) {
  const std::uint32_t number = BytesOf(setup.number_type);
  const auto weights = StateBytes(setup, number, setup.strategy >= ShardingStrategy::kZero3);
  const auto gradients = StateBytes(setup, number, setup.strategy >= ShardingStrategy::kZero2);
  const auto optimizer = StateBytes(setup, OptimizerBytesOf(setup.optimizer, setup.number_type),
                                    setup.strategy >= ShardingStrategy::kZero1);
  const auto activations =
      setup.shape ? ActivationBytes(setup, *setup.shape) : std::optional(Bytes(0));
  if (!weights || !gradients || !optimizer || !activations) {
    return std::nullopt;
  }
  const auto total = Narrow(Wide(weights->value()) + gradients->value() + optimizer->value() +
                            activations->value());
  if (!total) {
    return std::nullopt;
  }
  return TrainingMemory{.weights = *weights,
                        .gradients = *gradients,
                        .optimizer = *optimizer,
                        .activations = *activations,
                        .total = *total};
}

std::optional<std::uint32_t> LeastDataParallel(TrainingSetup setup, Bytes memory,
                                               std::uint32_t most) {
  const auto fits = [&setup, memory](std::uint32_t degree) {
    setup.data_parallel = degree;
    const std::optional<TrainingMemory> needed = MemoryOf(setup);
    return needed && needed->total <= memory;
  };
  if (most == 0 || !fits(most)) {
    return std::nullopt;
  }
  // More ranks never need more memory of each.
  std::uint32_t low = 1;
  std::uint32_t high = most;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (fits(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

std::optional<Bytes> GradientBytes(const TrainingSetup& setup) {
  return StateBytes(setup, BytesOf(setup.number_type), false);
}

}  // namespace muster::core

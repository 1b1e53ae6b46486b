#include "scheduler/core/place/estimate/model_memory.h"

#include <algorithm>
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

// What one GPU would hold of parameters with nothing sharded.
struct OwnParameters {
  std::uint64_t dense = 0;
  std::uint64_t experts = 0;
};

OwnParameters ParametersOfOne(const TrainingSetup& setup) {
  const std::uint64_t parts = std::uint64_t{setup.tensor_parallel} * setup.pipeline_parallel;
  const std::uint64_t experts = setup.experts ? ExpertParameters(*setup.experts).value_or(0) : 0;
  return {absl::Uint128Low64(CeilDivide(setup.parameters - experts, parts)),
          absl::Uint128Low64(CeilDivide(experts, parts * setup.expert_parallel))};
}

// The bytes of what is `sharded` over the data-parallel ranks, or not.
std::optional<Bytes> StateBytes(const TrainingSetup& setup, std::uint32_t bytes, bool sharded) {
  const OwnParameters own = ParametersOfOne(setup);
  Wide parameters = Wide(own.dense) + own.experts;
  if (sharded) {
    const std::uint32_t copies = std::max(1U, setup.data_parallel / setup.expert_parallel);
    parameters = CeilDivide(own.dense, setup.data_parallel) + CeilDivide(own.experts, copies);
  }
  return Narrow(Times(parameters, bytes));
}

std::optional<Wide> TokensTimesHidden(const TransformerShape& shape) {
  const auto product = Times(Times(Wide(shape.sequence), shape.micro_batch), shape.hidden);
  return product && *product <= kMost ? product : std::nullopt;
}

// Of one layer, whose input is all that is kept with full recomputation.
std::optional<Wide> KeptOfLayer(const TrainingSetup& setup, const TransformerShape& shape,
                                Recomputation recomputation) {
  const std::uint64_t e = BytesOf(setup.number_type);
  const std::uint64_t t = setup.tensor_parallel;
  const std::uint64_t undivided = setup.sequence_parallel ? t : 1;
  const std::optional<Wide> sbh = TokensTimesHidden(shape);
  if (!sbh) {
    return std::nullopt;
  }
  if (recomputation == Recomputation::kFull) {
    return CeilDivide(*sbh * e, undivided);
  }
  Wide layer = CeilDivide(*sbh * (4 * e + 2), undivided) + CeilDivide(*sbh * (12 * e), t);
  if (recomputation == Recomputation::kNone) {
    const std::optional<Wide> scores =
        Times(Times(Times(Wide(shape.sequence), shape.micro_batch), shape.sequence), shape.heads);
    if (!scores || *scores > kMost) {
      return std::nullopt;
    }
    layer += CeilDivide(*scores * (2 * e + 1), t);
  }
  return layer;
}

// What the experts of a layer after the first keep beside that.
std::optional<Wide> KeptOfMoreExperts(const TrainingSetup& setup, const TransformerShape& shape) {
  const std::optional<Wide> sbh = TokensTimesHidden(shape);
  if (!sbh || !setup.experts) {
    return sbh ? std::optional(Wide(0)) : std::nullopt;
  }
  const std::uint64_t e = BytesOf(setup.number_type);
  const std::uint64_t t = setup.tensor_parallel;
  const Wide one =
      CeilDivide(*sbh * e, setup.sequence_parallel ? t : 1) + CeilDivide(*sbh * (8 * e), t);
  return Times(one, std::max<std::uint64_t>(1, setup.experts->active) - 1);
}

std::optional<Bytes> ActivationBytes(const TrainingSetup& setup, const TransformerShape& shape) {
  const auto layer = KeptOfLayer(setup, shape, setup.recomputation);
  const std::optional<Wide> layers = Times(layer, shape.layers);
  if (!layers || setup.recomputation == Recomputation::kFull || !setup.experts) {
    return Narrow(layers);
  }
  const std::optional<Wide> more =
      Times(KeptOfMoreExperts(setup, shape), std::min(setup.experts->layers, shape.layers));
  return more && *more <= kMost ? Narrow(*layers + *more) : std::nullopt;
}

std::optional<Bytes> WorkingBytes(const TrainingSetup& setup, const TransformerShape& shape) {
  Wide working = 0;
  if (setup.strategy >= ShardingStrategy::kZero3) {
    const Wide inner = setup.experts ? setup.experts->inner : 0;
    const Wide wide = std::max(Wide(4) * shape.hidden, inner);
    if (wide > kMost) {
      return std::nullopt;
    }
    const std::optional<Wide> matrix = Times(Wide(shape.hidden), absl::Uint128Low64(wide));
    const auto bytes = Times(matrix, 2 * std::uint64_t{BytesOf(setup.number_type)});
    if (!bytes) {
      return std::nullopt;
    }
    working += CeilDivide(*bytes, setup.tensor_parallel);
  }
  if (setup.recomputation == Recomputation::kFull) {
    const auto layer = KeptOfLayer(setup, shape, Recomputation::kNone);
    const auto more = KeptOfMoreExperts(setup, shape);
    if (!layer || !more || *layer > kMost || *more > kMost) {
      return std::nullopt;
    }
    working += *layer + *more;
  }
  return Narrow(working);
}

// Moves what lies at `place` off the GPU.
void MoveOffGpu(Bytes& bytes, StatePlace place, TrainingMemory& memory) {
  if (place != StatePlace::kGpu) {
    (place == StatePlace::kHost ? memory.host : memory.nvme) += bytes;
    bytes = Bytes(0);
  }
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
  const auto working = setup.shape ? WorkingBytes(setup, *setup.shape) : std::optional(Bytes(0));
  if (!weights || !gradients || !optimizer || !activations || !working) {
    return std::nullopt;
  }
  TrainingMemory memory{.weights = *weights,
                        .gradients = *gradients,
                        .optimizer = *optimizer,
                        .activations = *activations,
                        .working = *working,
                        .total = Bytes(0),
                        .host = Bytes(0),
                        .nvme = Bytes(0)};
  const auto all = Narrow(Wide(weights->value()) + gradients->value() + optimizer->value() +
                          activations->value() + working->value());
  if (!all) {
    return std::nullopt;
  }
  MoveOffGpu(memory.gradients, setup.offload.optimizer, memory);
  MoveOffGpu(memory.optimizer, setup.offload.optimizer, memory);
  MoveOffGpu(memory.weights, setup.offload.weights, memory);
  MoveOffGpu(memory.activations, setup.offload.activations ? StatePlace::kHost : StatePlace::kGpu,
             memory);
  memory.total = *all - memory.host - memory.nvme;
  return memory;
}

std::optional<std::uint32_t> LeastDataParallel(TrainingSetup setup, Bytes memory,
                                               std::uint32_t most) {
  const std::uint32_t each = setup.expert_parallel;
  const auto fits = [&setup, memory, each](std::uint32_t groups) {
    setup.data_parallel = groups * each;
    const std::optional<TrainingMemory> needed = MemoryOf(setup);
    return needed && needed->total <= memory;
  };
  if (most < each || !fits(most / each)) {
    return std::nullopt;
  }
  // More ranks never need more memory of each.
  std::uint32_t low = 1;
  std::uint32_t high = most / each;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (fits(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low * each;
}

std::optional<Bytes> GradientBytes(const TrainingSetup& setup) {
  return StateBytes(setup, BytesOf(setup.number_type), false);
}

}  // namespace muster::core

#pragma once

// What training a transformer takes of each GPU's memory, by strategy.
//
// Model states: S. Rajbhandari, J. Rasley, O. Ruwase, Y. He, ZeRO: Memory optimizations toward
// training trillion parameter models, SC 2020 (arXiv 1910.02054), section 3.1 and figure 1: with P
// parameters, mixed precision holds 2 P bytes of weights, 2 P of gradients and K P of optimizer
// state, K = 12 for Adam (a copy of the weights, momentum and variance, 4 bytes each). ZeRO stage 1
// divides the optimizer's part by the data-parallel degree, stage 2 the gradients', too, stage 3
// all; FSDP with full sharding is stage 3. Activations: V. Korthikanti et al., Reducing activation
// recomputation in large transformer models, MLSys 2023 (arXiv 2205.05198), section 4. Offload: J.
// Ren et al., ZeRO-Offload, USENIX ATC 2021 (arXiv 2101.06840), section 4: gradients and optimizer
// state move to the host, 14 P bytes, and the weights' 2 P stay; S. Rajbhandari et al.,
// ZeRO-Infinity, SC 2021 (arXiv 2104.07857): weights and activation checkpoints, too, and to NVMe.
// Not counted: the framework's own memory, communication buffers, fragmentation, embeddings' and
// logits' activations. Invariants: integers throughout, parts rounded up; what does not fit 64 bits
// is refused.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "scheduler/core/place/estimate/expert_layers.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/units.h"

namespace muster::core {

enum class NumberType : std::uint8_t { kFp32, kFp16, kBf16 };
enum class Optimizer : std::uint8_t { kAdam, kAdam8Bit, kSgd, kSgdMomentum };
enum class ShardingStrategy : std::uint8_t { kDdp, kZero1, kZero2, kZero3 };
enum class Recomputation : std::uint8_t {
  kNone,
  kSelective,  // of attention, which is also what fused attention amounts to
  kFull,       // of everything but each layer's input
};

enum class StatePlace : std::uint8_t { kGpu, kHost, kNvme };

// Where what training keeps between its steps lies.
struct Offload {
  StatePlace optimizer = StatePlace::kGpu;  // and the gradients, which its step reads
  StatePlace weights = StatePlace::kGpu;
  bool activations = false;  // each layer's input to the host, with full recomputation
  static constexpr auto Fields(auto list) {
    return list(Field{"optimizer", &Offload::optimizer}, Field{"weights", &Offload::weights},
                Field{"activations", &Offload::activations});
  }
  friend bool operator==(const Offload&, const Offload&) = default;
};

// The shape of a transformer and of what one replica works on at once.
struct TransformerShape {
  std::uint64_t micro_batch = 0;  // b: sequences
  std::uint64_t sequence = 0;     // s: tokens each
  std::uint64_t hidden = 0;       // h
  std::uint64_t layers = 0;       // L
  std::uint64_t heads = 0;        // a
  static constexpr auto Fields(auto list) {
    return list(
        Field{"micro_batch", &TransformerShape::micro_batch},
        Field{"sequence", &TransformerShape::sequence}, Field{"hidden", &TransformerShape::hidden},
        Field{"layers", &TransformerShape::layers}, Field{"heads", &TransformerShape::heads});
  }
  friend bool operator==(const TransformerShape&, const TransformerShape&) = default;
};

struct TrainingSetup {
  std::uint64_t parameters = 0;
  NumberType number_type = NumberType::kBf16;
  Optimizer optimizer = Optimizer::kAdam;
  ShardingStrategy strategy = ShardingStrategy::kDdp;
  std::uint32_t data_parallel = 1;
  std::uint32_t tensor_parallel = 1;
  std::uint32_t pipeline_parallel = 1;
  bool sequence_parallel = false;  // activations of norms and dropouts divided by tp, too
  Recomputation recomputation = Recomputation::kNone;
  std::optional<TransformerShape> shape;  // without it activations are not counted
  Offload offload;
  std::optional<ExpertShape> experts;  // whose parameters are among `parameters`
  std::uint32_t expert_parallel = 1;   // a divisor of data_parallel and of the experts
  static constexpr auto Fields(auto list) {
    return list(Field{"parameters", &TrainingSetup::parameters},
                Field{"number_type", &TrainingSetup::number_type},
                Field{"optimizer", &TrainingSetup::optimizer},
                Field{"strategy", &TrainingSetup::strategy},
                Field{"data_parallel", &TrainingSetup::data_parallel},
                Field{"tensor_parallel", &TrainingSetup::tensor_parallel},
                Field{"pipeline_parallel", &TrainingSetup::pipeline_parallel},
                Field{"sequence_parallel", &TrainingSetup::sequence_parallel},
                Field{"recomputation", &TrainingSetup::recomputation},
                Field{"shape", &TrainingSetup::shape}, Field{"offload", &TrainingSetup::offload},
                Field{"experts", &TrainingSetup::experts},
                Field{"expert_parallel", &TrainingSetup::expert_parallel});
  }
  friend bool operator==(const TrainingSetup&, const TrainingSetup&) = default;
};

// Of one GPU; of the first pipeline stage, which holds the most.
struct TrainingMemory {
  Bytes weights;
  Bytes gradients;
  Bytes optimizer;
  Bytes activations;
  Bytes working;  // of the layer in work: its gathered weights, its activations computed again
  Bytes total;    // of the GPU's own memory
  Bytes host;     // the GPU's share of its host's memory
  Bytes nvme;     // and of NVMe
  static constexpr auto Fields(auto list) {
    return list(Field{"weights", &TrainingMemory::weights},
                Field{"gradients", &TrainingMemory::gradients},
                Field{"optimizer", &TrainingMemory::optimizer},
                Field{"activations", &TrainingMemory::activations},
                Field{"working", &TrainingMemory::working}, Field{"total", &TrainingMemory::total},
                Field{"host", &TrainingMemory::host}, Field{"nvme", &TrainingMemory::nvme});
  }
  friend bool operator==(const TrainingMemory&, const TrainingMemory&) = default;
};

// 4, 2 and 2 bytes.
std::uint32_t BytesOf(NumberType type);

// K, bytes of optimizer state for each parameter. With 2-byte weights a 4-byte copy of them is part
// of it: Adam 12, Adam with 8-bit moments 6 (T. Dettmers et al., ICLR 2022, arXiv 2110.02861), SGD
// 4, with momentum 8. With 4-byte weights there is no copy: 4 bytes less.
std::uint32_t OptimizerBytesOf(Optimizer optimizer, NumberType type);

// Of each GPU. The parameters of one are ceil(P / (tp pp)); a shard of n bytes over dp ranks is of
// whole parameters, ceil(parameters / dp).
// Activations of a layer, with e bytes a number and tensor parallelism t (for e = 2 the paper's
// equations 1, 2, 4 and 6, derived again for 4 bytes from its section 4.1):
//   s b h ((4e + 2) + 12e/t) + (2e + 1) a s^2 b / t; with sequence parallelism all of it over t;
//   selective recomputation drops the term in s^2; full keeps e s b h (over t when sequence
//   parallel) of each layer.
// The first pipeline stage holds pp micro-batches of L/pp layers: L of them (section 4.2.3).
// Of the layer in work, when the shape is known: with ZeRO-3 the largest matrix, h by 4h or h by an
// expert's size, is gathered with its gradients, 2e bytes a parameter over t (ZeRO-Infinity,
// section 3, MSWM); with full recomputation one layer's activations.
// Experts: their parameters are divided by ep, too, and sharded over dp/ep ranks (S. Rajbhandari et
// al., DeepSpeed-MoE, arXiv 2201.05596, section 5). A layer of experts keeps the MLP's part of the
// activations, s b h (e + 8e/t), for each of the k experts of a token: our count, by section 4.1.
// Nothing when a number does not fit 64 bits. REQUIRES: degrees and the shape's numbers are not 0;
// experts hold no more than `parameters`.
std::optional<TrainingMemory> MemoryOf(const TrainingSetup& setup);

// The least data-parallel degree, up to `most` and a multiple of the expert-parallel one, with
// which `setup` fits into `memory`; nothing when none does.
std::optional<std::uint32_t> LeastDataParallel(TrainingSetup setup, Bytes memory,
                                               std::uint32_t most);

// What gradients one GPU has before they are divided, the buffer of an all-reduce over the
// data-parallel ranks.
std::optional<Bytes> GradientBytes(const TrainingSetup& setup);

}  // namespace muster::core

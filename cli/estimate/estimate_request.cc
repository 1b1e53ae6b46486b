#include "cli/estimate/estimate_request.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/controller/query/node_query.h"
#include "cli/estimate/estimate_values.h"
#include "cli/parse/number.h"
#include "cli/parse/request/resources.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/core/place/estimate/gpu_sheet.h"

namespace muster::cli {
namespace {

constexpr std::array<Word<core::NumberType>, 6> kNumberTypes = {
    {{"bf16", core::NumberType::kBf16},
     {"bfloat16", core::NumberType::kBf16},
     {"fp16", core::NumberType::kFp16},
     {"float16", core::NumberType::kFp16},
     {"fp32", core::NumberType::kFp32},
     {"float32", core::NumberType::kFp32}}};
constexpr std::array<Word<core::Optimizer>, 5> kOptimizers = {
    {{"adam", core::Optimizer::kAdam},
     {"adamw", core::Optimizer::kAdam},
     {"adam8bit", core::Optimizer::kAdam8Bit},
     {"sgd", core::Optimizer::kSgd},
     {"momentum", core::Optimizer::kSgdMomentum}}};
constexpr std::array<Word<core::ShardingStrategy>, 5> kStrategies = {
    {{"ddp", core::ShardingStrategy::kDdp},
     {"zero1", core::ShardingStrategy::kZero1},
     {"zero2", core::ShardingStrategy::kZero2},
     {"zero3", core::ShardingStrategy::kZero3},
     {"fsdp", core::ShardingStrategy::kZero3}}};
constexpr std::array<Word<core::Recomputation>, 3> kRecomputations = {
    {{"none", core::Recomputation::kNone},
     {"selective", core::Recomputation::kSelective},
     {"full", core::Recomputation::kFull}}};

constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30;
// Of the peak. Large runs reach 0.38 to 0.43 (A. Dubey et al., The Llama 3 herd of models, arXiv
// 2407.21783, table 4).
constexpr double kUsualFlopsUsed = 0.4;
constexpr std::uint64_t kUsualHeadSize = 128;
constexpr std::array<const char*, 4> kShapeOptions = {"batch", "seq", "hidden", "layers"};

absl::StatusOr<std::optional<core::TransformerShape>> ReadShape(const Invocation& invocation) {
  // Experts need --hidden and --layers alone.
  const bool of_experts = invocation.Has("experts") || invocation.Has("expert-size");
  const bool asked = invocation.Has("batch") || invocation.Has("seq") || invocation.Has("heads") ||
                     (!of_experts && (invocation.Has("hidden") || invocation.Has("layers")));
  if (!asked) {
    return std::optional<core::TransformerShape>();
  }
  for (const char* name : kShapeOptions) {
    if (!invocation.Has(name)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--", name, ": activations need --batch, --seq, --hidden and --layers: name it, too"));
    }
  }
  core::TransformerShape shape;
  ASSIGN_OR_RETURN(shape.micro_batch, CountOf(invocation, "batch", 0));
  ASSIGN_OR_RETURN(shape.sequence, CountOf(invocation, "seq", 0));
  ASSIGN_OR_RETURN(shape.hidden, CountOf(invocation, "hidden", 0));
  ASSIGN_OR_RETURN(shape.layers, CountOf(invocation, "layers", 0));
  const auto heads =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(1, shape.hidden / kUsualHeadSize));
  ASSIGN_OR_RETURN(shape.heads, CountOf(invocation, "heads", heads));
  return std::optional(shape);
}

struct Offloaded {
  const char* text;
  core::StatePlace core::Offload::*place;  // null: activations
  core::StatePlace value;
};
constexpr std::array<Offloaded, 7> kOffloads = {
    {{"optimizer", &core::Offload::optimizer, core::StatePlace::kHost},
     {"weights", &core::Offload::weights, core::StatePlace::kHost},
     {"activations", nullptr, core::StatePlace::kHost},
     {"optimizer:cpu", &core::Offload::optimizer, core::StatePlace::kHost},
     {"weights:cpu", &core::Offload::weights, core::StatePlace::kHost},
     {"optimizer:nvme", &core::Offload::optimizer, core::StatePlace::kNvme},
     {"weights:nvme", &core::Offload::weights, core::StatePlace::kNvme}}};

absl::StatusOr<core::Offload> ReadOffload(const Invocation& invocation) {
  core::Offload offload;
  if (!invocation.Has("offload")) {
    return offload;
  }
  for (const auto& piece : absl::StrSplit(invocation.Value("offload"), ',')) {
    const std::string text(piece);
    const auto* const known =
        std::find_if(kOffloads.begin(), kOffloads.end(),
                     [&text](const Offloaded& one) { return text == one.text; });
    if (known == kOffloads.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--offload: ", Quote(text),
          " is not one: use optimizer, weights, activations, optimizer:nvme or weights:nvme"));
    }
    if (known->place == nullptr) {
      offload.activations = true;
    } else {
      offload.*(known->place) = known->value;
    }
  }
  return offload;
}

// What ZeRO-Offload and ZeRO-Infinity are defined for.
absl::Status CheckOffload(const core::TrainingSetup& setup) {
  const core::Offload& offload = setup.offload;
  if (offload.optimizer != core::StatePlace::kGpu &&
      setup.strategy < core::ShardingStrategy::kZero2) {
    return absl::InvalidArgumentError("--offload: optimizer goes with --strategy zero2 or zero3");
  }
  if (offload.weights != core::StatePlace::kGpu &&
      (setup.strategy < core::ShardingStrategy::kZero3 || !setup.shape)) {
    return absl::InvalidArgumentError(
        "--offload: weights goes with --strategy zero3 and --batch, --seq, --hidden and --layers: "
        "the layer in work stays on the GPU");
  }
  if (offload.activations && (setup.recomputation != core::Recomputation::kFull || !setup.shape)) {
    return absl::InvalidArgumentError(
        "--offload: activations goes with --recompute full and --batch, --seq, --hidden and "
        "--layers");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::uint32_t> ReadExpertDegree(const Invocation& invocation,
                                               const core::TrainingSetup& setup) {
  ASSIGN_OR_RETURN(const std::uint32_t degree, CountOf(invocation, "ep", 1));
  if (setup.experts &&
      (setup.data_parallel % degree != 0 || setup.experts->experts % degree != 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--ep: ", degree, " does not divide both dp = ", setup.data_parallel, " and ",
                     setup.experts->experts, " experts: use one that does"));
  }
  return degree;
}

absl::Status CheckDegrees(const EstimateRequest& request) {
  const core::TrainingSetup& setup = request.setup;
  const std::uint64_t parts = std::uint64_t{setup.tensor_parallel} * setup.pipeline_parallel;
  if (request.gpus % parts != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--gpus: ", request.gpus, " is no multiple of tp x pp = ", parts, ": use one that is"));
  }
  if (setup.shape && setup.shape->layers < setup.pipeline_parallel) {
    return absl::InvalidArgumentError(absl::StrCat("--pp: ", setup.pipeline_parallel,
                                                   " stages for ", setup.shape->layers,
                                                   " layers: use no more stages than layers"));
  }
  return absl::OkStatus();
}

absl::StatusOr<core::TrainingSetup> ReadSetup(const Invocation& invocation) {
  core::TrainingSetup setup;
  ASSIGN_OR_RETURN(setup.parameters, ParametersOf(invocation));
  ASSIGN_OR_RETURN(setup.number_type, OneOf(invocation, "dtype", kNumberTypes));
  ASSIGN_OR_RETURN(setup.optimizer, OneOf(invocation, "optimizer", kOptimizers));
  ASSIGN_OR_RETURN(setup.strategy, OneOf(invocation, "strategy", kStrategies));
  ASSIGN_OR_RETURN(setup.recomputation, OneOf(invocation, "recompute", kRecomputations));
  ASSIGN_OR_RETURN(setup.tensor_parallel, CountOf(invocation, "tp", 1));
  ASSIGN_OR_RETURN(setup.pipeline_parallel, CountOf(invocation, "pp", 1));
  ASSIGN_OR_RETURN(setup.shape, ReadShape(invocation));
  setup.sequence_parallel = invocation.Has("sequence-parallel");
  ASSIGN_OR_RETURN(setup.experts, ExpertsOf(invocation, setup.parameters));
  ASSIGN_OR_RETURN(setup.offload, ReadOffload(invocation));
  RETURN_IF_ERROR(CheckOffload(setup));
  return setup;
}

// Tensor-parallel ranks are next to one another, then the data-parallel ones, as in Megatron-LM: as
// many of the latter as fit share a node, and the last node has the rest.
absl::StatusOr<std::optional<core::LinkLevels>> ReadLinks(const Invocation& invocation,
                                                          const core::TrainingSetup& setup) {
  if (!invocation.Has("bandwidth")) {
    if (invocation.Has("node-bandwidth") || invocation.Has("gpus-per-node")) {
      return absl::InvalidArgumentError(
          "--bandwidth: name the network's, too, like --bandwidth 50GB/s");
    }
    return std::optional<core::LinkLevels>();
  }
  core::Link across;
  ASSIGN_OR_RETURN(across.bytes_per_second, BandwidthOf(invocation, "bandwidth"));
  if (invocation.Has("node-bandwidth") != invocation.Has("gpus-per-node")) {
    return absl::InvalidArgumentError(
        "--node-bandwidth: it goes with --gpus-per-node: name both or neither");
  }
  if (!invocation.Has("node-bandwidth")) {
    return std::optional(core::LinkLevels{{{setup.data_parallel}, across}});
  }
  core::Link inside;
  ASSIGN_OR_RETURN(inside.bytes_per_second, BandwidthOf(invocation, "node-bandwidth"));
  ASSIGN_OR_RETURN(const std::uint32_t gpus, CountOf(invocation, "gpus-per-node", 1));
  const std::uint32_t each = std::max<std::uint32_t>(1, gpus / setup.tensor_parallel);
  std::vector<std::uint32_t> groups(setup.data_parallel / each, each);
  if (setup.data_parallel % each != 0) {
    groups.push_back(setup.data_parallel % each);
  }
  const auto nodes = static_cast<std::uint32_t>(groups.size());
  return std::optional(core::LinkLevels{{std::move(groups), inside}, {{nodes}, across}});
}

absl::StatusOr<GpuType> ParseGpuType(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const bool named = colon != std::string::npos;
  const absl::StatusOr<Bytes> memory = ParseMemory(named ? text.substr(colon + 1) : text);
  const std::string name = named ? text.substr(0, colon) : text;
  if (!memory.ok() || name.empty() || !CheckText(name, 64).ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--gpu-memory: ", Quote(text), " is not one: use 80G or h100:80G,a100:40G"));
  }
  return GpuType{name, *memory};
}

// The types of the live cluster, each with the least memory that one of them has.
absl::StatusOr<std::vector<GpuType>> ClusterGpus(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const NodeAnswers answers, FetchNodes(invocation, "estimate", true));
  std::vector<GpuType> types;
  for (const NodeView& node : answers.nodes) {
    for (const Gpu& gpu : node.machine.gpus) {
      const auto known = std::find_if(types.begin(), types.end(), [&gpu](const GpuType& type) {
        return type.name == gpu.model;
      });
      if (known == types.end()) {
        types.push_back({gpu.model, gpu.memory});
      } else {
        known->memory = std::min(known->memory, gpu.memory);
      }
    }
  }
  if (types.empty()) {
    return absl::FailedPreconditionError(
        "--cluster: no node has a GPU: name some with --gpu-memory h100:80G");
  }
  return types;
}

absl::Status ReadRun(const Invocation& invocation, EstimateRequest& request) {
  if (!invocation.Has("tokens")) {
    for (const char* name :
         {"gpu-flops", "flops-used", "watts", "pue", "prices", "price-gpu-hour", "price-kwh"}) {
      if (invocation.Has(name)) {
        return absl::InvalidArgumentError(
            absl::StrCat("--", name, ": it goes with --tokens or --serve"));
      }
    }
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(request.tokens, ScaledOf(invocation, "tokens"));
  if (!request.gpu.flops) {
    return absl::InvalidArgumentError(
        "--tokens: how fast is a GPU? name its type, like --gpu h100, or --gpu-flops");
  }
  ASSIGN_OR_RETURN(request.flops_used, PartOf(invocation, "flops-used", kUsualFlopsUsed));
  ASSIGN_OR_RETURN(request.prices, ReadRunPrices(invocation));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<GpuType>> ReadGpuTypes(const Invocation& invocation) {
  if (invocation.Has("cluster") && invocation.Has("gpu-memory")) {
    return absl::InvalidArgumentError("--cluster: not with --gpu-memory: leave one of them out");
  }
  if (invocation.Has("cluster")) {
    return ClusterGpus(invocation);
  }
  std::vector<GpuType> types;
  if (!invocation.Has("gpu-memory")) {
    for (const core::GpuSheet& usual : core::GpuSheets()) {
      if (!invocation.Has("gpu") || invocation.Value("gpu") == usual.name) {
        types.push_back({usual.name, Bytes(kGibibyte * usual.memory_gib)});
      }
    }
    return types;
  }
  for (const auto& piece : absl::StrSplit(invocation.Value("gpu-memory"), ',')) {
    ASSIGN_OR_RETURN(GpuType type, ParseGpuType(std::string(piece)));
    types.push_back(std::move(type));
  }
  return types;
}

absl::StatusOr<EstimateRequest> ReadEstimateRequest(const Invocation& invocation) {
  EstimateRequest request;
  ASSIGN_OR_RETURN(request.setup, ReadSetup(invocation));
  ASSIGN_OR_RETURN(request.gpus, CountOf(invocation, "gpus", 1));
  RETURN_IF_ERROR(CheckDegrees(request));
  request.setup.data_parallel =
      request.gpus / (request.setup.tensor_parallel * request.setup.pipeline_parallel);
  ASSIGN_OR_RETURN(request.setup.expert_parallel, ReadExpertDegree(invocation, request.setup));
  if (!core::MemoryOf(request.setup)) {
    return absl::InvalidArgumentError(
        "--batch, --seq, --hidden, --layers, --params: together more than 64 bits of bytes: use "
        "less");
  }
  ASSIGN_OR_RETURN(request.links, ReadLinks(invocation, request.setup));
  ASSIGN_OR_RETURN(request.gpu, ReadGpuFigures(invocation));
  RETURN_IF_ERROR(ReadRun(invocation, request));
  ASSIGN_OR_RETURN(request.gpu_types, ReadGpuTypes(invocation));
  return request;
}

}  // namespace muster::cli

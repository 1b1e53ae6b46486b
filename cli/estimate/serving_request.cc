#include "cli/estimate/serving_request.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

#include "absl/strings/str_cat.h"
#include "cli/estimate/estimate_request.h"
#include "cli/estimate/estimate_values.h"
#include "cli/parse/number.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/size_text.h"

namespace muster::cli {
namespace {

constexpr std::array<Word<std::uint32_t>, 9> kServedTypes = {{{"bf16", 16},
                                                              {"bfloat16", 16},
                                                              {"fp16", 16},
                                                              {"float16", 16},
                                                              {"fp32", 32},
                                                              {"float32", 32},
                                                              {"fp8", 8},
                                                              {"int8", 8},
                                                              {"int4", 4}}};

constexpr std::array<const char*, 14> kTrainingAlone = {"optimizer",
                                                        "strategy",
                                                        "offload",
                                                        "pp",
                                                        "ep",
                                                        "seq",
                                                        "recompute",
                                                        "submit",
                                                        "tokens",
                                                        "sequence-parallel",
                                                        "bandwidth",
                                                        "cluster",
                                                        "gpus-per-node",
                                                        "node-bandwidth"};
constexpr std::array<const char*, 10> kServingAlone = {
    "kv-heads", "head-size", "kv-dtype", "prompt",         "output",
    "rate",     "p99",       "spread",   "bandwidth-used", "memory-bandwidth"};

constexpr std::uint32_t kUsualPrompt = 512;
constexpr std::uint32_t kUsualOutput = 256;
constexpr std::uint32_t kUsualHead = 128;
constexpr std::uint32_t kUsualBatchMost = 256;

absl::StatusOr<core::ServedModel> ReadServedModel(const Invocation& invocation) {
  core::ServedModel model;
  ASSIGN_OR_RETURN(model.parameters, ParametersOf(invocation));
  if (!invocation.Has("layers") ||
      (!invocation.Has("kv-heads") && !invocation.Has("heads") && !invocation.Has("hidden"))) {
    return absl::InvalidArgumentError(
        "--layers: the KV cache needs --layers and --kv-heads: name both");
  }
  ASSIGN_OR_RETURN(model.weight_bits, OneOf(invocation, "dtype", kServedTypes));
  model.kv_bits = std::max(model.weight_bits, 16U);
  if (invocation.Has("kv-dtype")) {
    ASSIGN_OR_RETURN(model.kv_bits, OneOf(invocation, "kv-dtype", kServedTypes));
  }
  ASSIGN_OR_RETURN(model.experts, ExpertsOf(invocation, model.parameters));
  ASSIGN_OR_RETURN(model.layers, CountOf(invocation, "layers", 1));
  ASSIGN_OR_RETURN(const std::uint32_t hidden, CountOf(invocation, "hidden", kUsualHead));
  ASSIGN_OR_RETURN(const std::uint32_t heads,
                   CountOf(invocation, "heads", std::max(1U, hidden / kUsualHead)));
  ASSIGN_OR_RETURN(model.kv_heads, CountOf(invocation, "kv-heads", heads));
  const bool known = invocation.Has("hidden") && invocation.Has("heads");
  ASSIGN_OR_RETURN(model.head_size, CountOf(invocation, "head-size",
                                            known ? std::max(1U, hidden / heads) : kUsualHead));
  return model;
}

absl::Status ReadServingGpu(const Invocation& invocation, ServingRequest& request) {
  ASSIGN_OR_RETURN(request.gpu, ReadGpuFigures(invocation));
  if (invocation.Has("gpu-memory")) {
    ASSIGN_OR_RETURN(const std::vector<GpuType> types, ReadGpuTypes(invocation));
    if (types.size() != 1) {
      return absl::InvalidArgumentError("--gpu-memory: with --serve name one type");
    }
    request.gpu.memory = types.front().memory;
  }
  const GpuFigures& gpu = request.gpu;
  if (!gpu.memory || !gpu.flops || !gpu.bytes_per_second) {
    return absl::InvalidArgumentError(
        "--gpu: --serve needs a type, like --gpu h100; or --gpu-flops, --memory-bandwidth and "
        "--gpu-memory");
  }
  ASSIGN_OR_RETURN(request.flops_used, PartOf(invocation, "flops-used", 1));
  ASSIGN_OR_RETURN(request.bandwidth_used, PartOf(invocation, "bandwidth-used", 1));
  return absl::OkStatus();
}

absl::Status ReadLoad(const Invocation& invocation, ServingRequest& request) {
  ASSIGN_OR_RETURN(request.prompt, CountOf(invocation, "prompt", kUsualPrompt));
  ASSIGN_OR_RETURN(request.output, CountOf(invocation, "output", kUsualOutput));
  if (invocation.Has("rate")) {
    ASSIGN_OR_RETURN(request.rate, AmountOf(invocation, "rate"));
  }
  if (invocation.Has("spread")) {
    ASSIGN_OR_RETURN(request.spread, AmountOf(invocation, "spread"));
  }
  if (invocation.Has("p99")) {
    const auto time = ParseUnits(invocation.Value("p99"));
    if (!time.ok()) {
      return OptionError("p99", time.status());
    }
    request.p99_seconds = std::chrono::duration<double>(*time).count();
  }
  return absl::OkStatus();
}

absl::Status ReadCopies(const Invocation& invocation, ServingRequest& request) {
  ASSIGN_OR_RETURN(request.gpus, CountOf(invocation, "gpus", 1));
  ASSIGN_OR_RETURN(request.tensor_parallel, CountOf(invocation, "tp", 1));
  if (request.gpus % request.tensor_parallel != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--gpus: ", request.gpus, " is no multiple of tp = ", request.tensor_parallel,
                     ": use one that is"));
  }
  request.copies = request.gpus / request.tensor_parallel;
  // Where there are more GPUs than key/value heads, some hold the same ones.
  request.model.kv_heads = std::max<std::uint64_t>(request.model.kv_heads, request.tensor_parallel);
  return absl::OkStatus();
}

absl::Status ReadBatch(const Invocation& invocation, ServingRequest& request) {
  const auto weights = core::WeightBytes(request.model);
  if (!weights || !core::KvBytesPerToken(request.model)) {
    return absl::InvalidArgumentError(
        "--params, --layers, --kv-heads: together more than 64 bits of bytes: use less");
  }
  const std::uint64_t each =
      std::min(request.gpu.memory->value(),
               std::numeric_limits<std::uint64_t>::max() / request.tensor_parallel);
  const Bytes memory(each * request.tensor_parallel);
  request.batch_most =
      core::SequencesThatFit(request.model, memory, std::uint64_t{request.prompt} + request.output);
  const auto usual = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(kUsualBatchMost, std::max<std::uint64_t>(1, request.batch_most)));
  ASSIGN_OR_RETURN(request.batch, CountOf(invocation, "batch", usual));
  if (request.batch > request.batch_most) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the weights take ", BytesText(weights->value()), " of the ", BytesText(memory.value()),
        " of a copy's GPUs, and ", request.batch_most, " sequences of ", request.prompt, " + ",
        request.output, " tokens fit beside them: use more --tp, a smaller --dtype or --batch"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ServingRequest> ReadServingRequest(const Invocation& invocation) {
  ServingRequest request;
  ASSIGN_OR_RETURN(request.model, ReadServedModel(invocation));
  RETURN_IF_ERROR(ReadServingGpu(invocation, request));
  ASSIGN_OR_RETURN(request.prices, ReadRunPrices(invocation));
  RETURN_IF_ERROR(ReadLoad(invocation, request));
  RETURN_IF_ERROR(ReadCopies(invocation, request));
  RETURN_IF_ERROR(ReadBatch(invocation, request));
  return request;
}

absl::Status CheckServingOptions(const Invocation& invocation) {
  if (invocation.Has("serve")) {
    for (const char* name : kTrainingAlone) {
      if (invocation.Has(name)) {
        return absl::InvalidArgumentError(absl::StrCat("--", name, ": not with --serve"));
      }
    }
    return absl::OkStatus();
  }
  for (const char* name : kServingAlone) {
    if (invocation.Has(name)) {
      return absl::InvalidArgumentError(absl::StrCat("--", name, ": it goes with --serve"));
    }
  }
  return absl::OkStatus();
}

}  // namespace muster::cli

#pragma once

// What muster estimate was asked: a training run, links, and GPUs to fit into.
//
// Thread promise: runs on the main thread. Invariants: what is accepted is consistent (degrees
// divide the GPUs, a shape is whole) and MemoryOf takes it.

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/estimate/run_figures.h"
#include "cli/frame/verb.h"
#include "scheduler/core/place/estimate/model_memory.h"
#include "scheduler/core/place/worth/collective_cost.h"

namespace muster::cli {

struct GpuType {
  std::string name;
  Bytes memory;
};

struct EstimateRequest {
  core::TrainingSetup setup;
  std::uint32_t gpus = 0;
  std::vector<GpuType> gpu_types;
  // The data-parallel ranks' links; nothing when no bandwidth is known.
  std::optional<core::LinkLevels> links;
  std::optional<std::uint64_t> tokens;  // then the GPU's speed is known
  GpuFigures gpu;
  double flops_used = 1;
  RunPrices prices;
};

// InvalidArgument names the option and the mend; with --cluster also what a call may return.
absl::StatusOr<EstimateRequest> ReadEstimateRequest(const Invocation& invocation);

// --gpu-memory, --cluster, the type of --gpu, or usual types.
absl::StatusOr<std::vector<GpuType>> ReadGpuTypes(const Invocation& invocation);

}  // namespace muster::cli

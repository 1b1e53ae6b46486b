#pragma once

// A training run, reckoned, and written as a page and as a JSON document.
//
// Pure.

#include <optional>
#include <string>
#include <vector>

#include "cli/estimate/estimate_request.h"
#include "cli/page/style.h"
#include "scheduler/core/place/estimate/model_memory.h"
#include "scheduler/core/place/worth/collective_cost.h"

namespace muster::cli {

struct Fit {
  GpuType type;
  bool fits = false;
  std::optional<std::uint32_t> gpus_min;
};

// Seconds are absent when no bandwidth is known.
struct Traffic {
  double bytes_per_gpu = 0;
  std::optional<double> seconds;
  core::CollectiveAlgorithm algorithm = core::CollectiveAlgorithm::kNone;
};

struct TrainingRun {
  double seconds = 0;
  RunCost cost;
};

struct TrainingEstimate {
  core::TrainingMemory memory;
  std::vector<Fit> fits;
  Traffic allreduce;               // of the gradients
  Traffic step;                    // what the strategy sends for a step
  std::optional<TrainingRun> run;  // of --tokens
};

TrainingEstimate EstimateTraining(const EstimateRequest& request);

std::string TrainingDocument(const EstimateRequest& request, const TrainingEstimate& estimate);

std::string TrainingPage(const EstimateRequest& request, const TrainingEstimate& estimate,
                         const Style& style);

}  // namespace muster::cli

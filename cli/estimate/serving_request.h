#pragma once

// What muster estimate --serve was asked: a model, the GPUs of its copies, and requests.
//
// Pure, but for --prices. Invariants: the copies divide the GPUs; the batch fits beside the
// weights.

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "cli/estimate/run_figures.h"
#include "cli/frame/verb.h"
#include "scheduler/core/place/estimate/serving_roofline.h"

namespace muster::cli {

struct ServingRequest {
  core::ServedModel model;
  GpuFigures gpu;  // whose memory, speed and bandwidth are known
  RunPrices prices;
  std::uint32_t gpus = 1;
  std::uint32_t tensor_parallel = 1;  // GPUs of a copy
  std::uint32_t copies = 1;
  std::uint32_t prompt = 0;  // tokens of a request
  std::uint32_t output = 0;  // tokens of its answer
  std::uint32_t batch = 0;   // sequences at once in one copy
  std::uint64_t batch_most = 0;
  double flops_used = 1;  // parts of the peaks that are reached
  double bandwidth_used = 1;
  double spread = 1;                  // coefficient of variation of requests' work
  std::optional<double> rate;         // requests a second
  std::optional<double> p99_seconds;  // to keep
};

// InvalidArgument names the option and the mend; FailedPrecondition: it does not fit.
absl::StatusOr<ServingRequest> ReadServingRequest(const Invocation& invocation);

// An option that means something without --serve alone, or with it alone, is refused.
absl::Status CheckServingOptions(const Invocation& invocation);

}  // namespace muster::cli

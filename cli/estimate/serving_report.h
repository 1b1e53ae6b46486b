#pragma once

// A model that is served, reckoned, and written as a page and as a JSON document.
//
// Pure.

#include <optional>
#include <string>

#include "cli/estimate/serving_request.h"
#include "cli/page/style.h"
#include "scheduler/core/place/estimate/serving_roofline.h"

namespace muster::cli {

// What `rate` requests a second find.
struct ServingQueue {
  double busy = 0;     // of all places in batches; above 1 the queue grows without end
  double waiting = 0;  // the part of the requests that waits
  std::optional<double> p99_wait;
  std::optional<double> p99;  // with the service
};

struct ServingEstimate {
  Bytes weights;  // of one GPU
  Bytes kv_cache;
  Bytes kv_per_token;  // of a copy
  double first_token = 0;
  double step_alone = 0;
  double step_full = 0;
  core::FullServing alone;  // of one copy, one request at a time
  core::FullServing full;   // of all copies
  std::optional<ServingQueue> queue;
  std::optional<double> rate_within;  // requests a second within --p99
  RunCost hour;                       // of all GPUs
  RunCost million;                    // of a million tokens written, when full
};

ServingEstimate EstimateServing(const ServingRequest& request);

std::string ServingDocument(const ServingRequest& request, const ServingEstimate& estimate);

std::string ServingPage(const ServingRequest& request, const ServingEstimate& estimate,
                        const Style& style);

}  // namespace muster::cli

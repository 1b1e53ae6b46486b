#pragma once

// Why a job waits, why it runs where it does, or how it ended: the controller's answer as a value.
//
// Fetched by Connection::Explain, rendered by explain as text or JSON with these field names.
// Invariants: `allocation` is empty unless the job holds resources.

#include <string>
#include <vector>

#include "scheduler/model/job/job_estimate.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/plan/explanation.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/view/view.h"

namespace muster {

struct JobExplanation {
  JobView job;
  std::string summary;  // one sentence
  std::vector<NodeAnswer> nodes;
  Allocation allocation;
  std::vector<Suggestion> suggestions;
  Priority priority;           // of a waiting job, where one is reckoned
  PlacementQuality placement;  // of a running job
  JobEstimate estimate;        // `used` is zero where none was made
  Time promised = kNoTime;     // the latest start of a waiting job; kNoTime: none is promised
  static constexpr auto Fields(auto list) {
    return list(
        Field{"job", &JobExplanation::job}, Field{"summary", &JobExplanation::summary},
        Field{"nodes", &JobExplanation::nodes}, Field{"allocation", &JobExplanation::allocation},
        Field{"suggestions", &JobExplanation::suggestions},
        Field{"priority", &JobExplanation::priority},
        Field{"placement", &JobExplanation::placement},
        Field{"estimate", &JobExplanation::estimate}, Field{"promised", &JobExplanation::promised});
  }
  friend bool operator==(const JobExplanation&, const JobExplanation&) = default;
};

}  // namespace muster

#pragma once

// The estimates of a cluster's jobs: asked as each is submitted, taught as each ends.
//
// What a job got is in the journal, so a replay needs none of this, and a restart loses
// only what it had learned. Jobs that were cancelled or lost their node teach nothing. Thread
// promise: a value; one thread at a time. Invariants: as RunTimeEstimates'; of equal calls equal
// estimates.

#include <vector>

#include "scheduler/core/prompt/run_time_estimates.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/job/job.h"
#include "scheduler/model/job/job_estimate.h"
#include "scheduler/model/job/job_spec.h"

namespace muster::core {

class JobEstimates {
 public:
  [[nodiscard]] JobEstimate Of(const JobSpec& spec) const;
  // Writes it into the submissions among the events, which are about to be applied; of
  // heterogeneous jobs none is made.
  void AddTo(std::vector<Event>& events) const;
  // The job, as it is in the state, ends.
  void Observe(const Job& job, const JobEnded& end);

 private:
  RunTimeEstimates estimates_;
};

}  // namespace muster::core

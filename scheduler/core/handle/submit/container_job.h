#pragma once

// What a job may be that runs in a container, and which nodes it may use.
//
// Invariant: applied again it changes nothing.

#include "absl/status/status.h"
#include "scheduler/model/job/job_spec.h"

namespace muster::core {

// Refuses what no container can be for; else asks for nodes that have what containers need. A job
// without a container is as it was. REQUIRES: its requests went through NormaliseRequest.
absl::Status FillContainer(JobSpec& spec);

}  // namespace muster::core

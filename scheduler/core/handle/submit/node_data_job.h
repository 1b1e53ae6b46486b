#pragma once

// Which nodes a job may use that is to find copies of data on them.
//
// Invariant: applied again it changes nothing.

#include "absl/status/status.h"
#include "scheduler/model/job/job_spec.h"

namespace muster::core {

// Refuses sources that no copy can be of; else asks for nodes that make such copies. A job without
// any is as it was. REQUIRES: its requests went through NormaliseRequest.
absl::Status FillNodeData(JobSpec& spec);

}  // namespace muster::core

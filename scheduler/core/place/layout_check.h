#pragma once

// The layout of a request, checked and completed: groups that are not given, lists that need whole
// nodes.
//
// Invariants: (1) after Complete the groups multiply to the request's tasks; (2) errors name their
// option.

#include "absl/status/status.h"
#include "scheduler/model/job/job_spec.h"

namespace muster::core {

// Before the tasks are filled in: groups that say all ranks say how many tasks there are.
absl::Status BeginLayout(ResourceRequest& request);
// After that.
absl::Status CompleteLayout(ResourceRequest& request);
// Once the GPUs are filled in: what --gpu-bind says of them.
absl::Status CheckGpuBind(const ResourceRequest& request);

}  // namespace muster::core

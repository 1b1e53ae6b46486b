#pragma once

// The terms of a job besides its resources: dependency, deadline, constraint, node lists, licences.
// The part of validate that bounds them.
//
// Invariants: what passed can be evaluated without further checks.

#include "absl/status/status.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

// Refuses terms that are malformed, too many, or that this cluster never knows.
absl::Status CheckTerms(const JobSpec& spec, const SchedulerConfig& config);

// A node list and counted features say how many nodes there are at least, where nothing else does.
absl::Status FillNamedNodes(ResourceRequest& request);

}  // namespace muster::core

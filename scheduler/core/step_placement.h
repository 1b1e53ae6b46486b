#pragma once

// Where the ranks of a step go within its job's allocation.
//
// Thread promise: pure. Invariants: (1) every rank's cpus are part of the job's on that node; (2)
// unless overcommitted, no two ranks of the step share a hardware thread; (3) threads that no other
// step under way uses are preferred.

#include "absl/status/statusor.h"
#include "scheduler/core/cluster_state.h"
#include "scheduler/model/allocation.h"
#include "scheduler/model/job_spec.h"

namespace muster {

// InvalidArgument says what the step asks and what the allocation has.
absl::StatusOr<Allocation> PlaceStep(const ClusterState& state, const Job& job,
                                     const StepSpec& spec);

}  // namespace muster

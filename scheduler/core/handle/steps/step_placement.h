#pragma once

// Where the ranks of a step go within its job's allocation, or what it waits for there.
//
// A step has its CPUs, its GPUs and the memory that it asks for to itself, unless it says that it
// overlaps others. Invariants: (1) every rank's cpus are part of the job's on that node; (2) unless
// overcommitted, no two ranks of the step share a hardware thread; (3) no two exclusive steps under
// way share a hardware thread or a GPU; (4) threads that no step at all uses are preferred; (5)
// nodes whose part of the attempt is over get no step.

#include <string>

#include "absl/status/statusor.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/machine/allocation.h"

namespace muster::core {

struct StepPlace {
  Allocation placement;  // empty: others of the job have what it needs
  std::string waits;     // then what: "4 of its 8 CPUs are in use by step 7.1"
};

// InvalidArgument says what the step asks and what the allocation has: it could never start.
// REQUIRES: the job has an attempt.
absl::StatusOr<StepPlace> PlaceStep(const ClusterState& state, const Job& job,
                                    const StepSpec& spec);

}  // namespace muster::core

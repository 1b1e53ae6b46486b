#pragma once

// Whether a job could run on the nodes that are known if all that may be on were there and empty.
//
// Asked of each submission, so it stops at the first nodes that hold the job. Invariants: an answer
// has the class `never` for each of the job's partitions and alternatives; a cluster without nodes
// has no answer, because its first may still come.

#include <optional>
#include <vector>

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/plan/reason.h"
#include "scheduler/model/settings/power_class.h"

namespace muster::core {

// Why no arrangement of the nodes ever holds the job; nothing when one does. REQUIRES: a normalised
// spec whose partitions exist. Of a class of `power` no more nodes are there than may be on at
// once.
std::optional<Reason> WhyNeverFits(const ClusterState& state, const JobSpec& spec,
                                   const std::vector<PowerClass>& power);

}  // namespace muster::core

#pragma once

// The span of a job: which nodes, and how many tasks on each.
//
// The nodes that core/place/nodes/node_choice chooses, the tasks spread evenly. Invariants: (1)
// ranks of the result are numbered 0..tasks-1 in node order; (2) every node has a task; (3) ties
// fall to the lower node id.

#include <optional>
#include <vector>

#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/machine/narrow_link.h"
#include "scheduler/model/machine/network.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

// What a placement looks at: the cluster as it is, or as it would be.
enum class ClusterView : std::uint8_t {
  kAsIs,         // nodes that are up and not drained, with what is taken of them
  kEmptyUsable,  // the same nodes with nothing taken
  kEmptyAll,     // all registered nodes with nothing taken
};

// REQUIRES: `request` went through Normalise. Nothing when the job does not fit. `network`: null
// when it is not known; `links`: the narrow ones.
std::optional<Allocation> PlaceJob(const std::vector<NodeSnapshot>& nodes,
                                   const ResourceRequest& request, ClusterView view,
                                   const Network* network = nullptr,
                                   const std::vector<NarrowLink>& links = {});

}  // namespace muster::core

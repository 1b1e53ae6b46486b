#pragma once

// Which of the nodes that have room a job gets, and how many tasks on each: the fewest that hold
// it, the tightest of those, lighter ones before heavier ones, the tasks spread evenly. Where the
// network is known, those of the smallest span (core/place/nodes/tree_choice).
//
// The one rule, for placements now (core/plan/availability), for steps inside an allocation
// (core/place/nodes/node_selection) and for what could be. Invariants: (1) every chosen node has a
// task and no more than it has room for; (2) the nodes of the request's list and counts are among
// them; (3) ties fall to the lower turn, then to the lower position.

#include <cstdint>
#include <vector>

#include "scheduler/core/place/nodes/candidate.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

class NodeTree;

// The shares in the order of positions; empty when the candidates do not hold the job. `tree`: of
// the network, over the same positions; null when there is none.
std::vector<NodeShare> ChooseNodes(std::vector<CandidateNode> candidates,
                                   const ResourceRequest& request, const NodeTree* tree = nullptr);

}  // namespace muster::core

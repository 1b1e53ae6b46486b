#pragma once

// Which nodes a job gets where the network is known: those of the smallest span.
//
// One node if one holds the job; else those below the lowest switch that has room for it: of the
// switches of one level that on which it needs the fewest nodes, of those the one with the least
// room, so that the large parts of the tree stay whole. Where that is no leaf switch, the fewest
// leaves below it, with as even a part of the nodes on each as can be. Which leaves are the fewest
// is found by taking the roomiest first: exact where all nodes take as many tasks. A job in
// segments gets them below that switch as core/place/nodes/segment_choice.h says. Invariants: (1)
// those of core/place/nodes/node_choice.h; (2) no switch of a lower level than the one above the
// nodes has room for the job; (3) ties fall to the lower turns, then to the lower
// position.

#include <cstdint>
#include <vector>

#include "scheduler/core/place/nodes/candidate.h"
#include "scheduler/core/place/nodes/node_tree.h"
#include "scheduler/model/job/job_spec.h"

namespace muster::core {

// In any order; empty when the candidates do not hold the job, or not on as few leaf switches as it
// asks for.
std::vector<CandidateNode> ChooseInTree(const std::vector<CandidateNode>& candidates,
                                        const ResourceRequest& request, const NodeTree& tree);

// Whether the shares are on as few leaf switches as the job asks for, and in its segments.
bool LieAsAsked(const std::vector<NodeShare>& shares, const ResourceRequest& request,
                const NodeTree& tree);

// How many of its tasks find room on as many leaf switches as the job asks for; on the roomiest.
std::uint64_t RoomOnLeaves(const std::vector<CandidateNode>& candidates,
                           const ResourceRequest& request, const NodeTree& tree);

}  // namespace muster::core

#pragma once

// Which nodes a job gets that is to lie in segments: equally many nodes each, below one leaf switch
// or in one block.
//
// As few segments as hold the job; of the leaves those that hold most segments, the last of them
// the one that fits best, so that large ones stay whole. Invariants: (1) from each leaf comes a
// multiple of the segment; (2) those of core/place/nodes/node_choice.h.

#include <cstdint>
#include <map>
#include <vector>

#include "scheduler/core/place/nodes/candidate.h"
#include "scheduler/model/job/job_spec.h"

namespace muster::core {

// `leaves`: the candidates of each leaf switch. Empty when they do not hold the job in segments.
// REQUIRES: IsInSegments(request).
std::vector<CandidateNode> ChooseSegments(std::vector<std::vector<CandidateNode>> leaves,
                                          const ResourceRequest& request);

// Whether that many nodes of each leaf are whole segments.
bool AreSegments(const std::map<std::uint32_t, std::uint32_t>& nodes_of_leaf,
                 const ResourceRequest& request);

}  // namespace muster::core

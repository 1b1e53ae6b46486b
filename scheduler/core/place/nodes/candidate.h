#pragma once

// A node that could take some of a job's tasks, and the fewest of such nodes that hold the job.
//
// The part of the choice that knows no network and no weight: core/place/nodes/node_choice and
// core/place/nodes/tree_choice are made of it. Invariants: (1) the nodes of the request's list and
// counts are among the chosen; (2) ties fall to the lower turn, then to the lower position.

#include <cstdint>
#include <vector>

#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

// A node that could take some of a job's tasks.
struct CandidateNode {
  const NodeSnapshot* node = nullptr;
  std::uint32_t position = 0;  // the caller's; no two have the same
  std::uint32_t room = 0;      // tasks that it takes; not 0
  std::uint32_t cores = 0;     // free ones: the fewer, the tighter
  std::uint32_t weight = 0;    // the node's: the lighter, the sooner
  std::uint64_t turn = 0;      // of equal ones the lower is taken; sums compare, too
};

// A node, by its position, and the tasks that it gets.
struct NodeShare {
  std::uint32_t node = 0;
  std::uint32_t tasks = 0;
};

// The fewest candidates, at least min_nodes, that hold all tasks, the last of
// them as tight as can be, whatever they weigh; in any order, empty when none do.
std::vector<CandidateNode> ChooseFewest(std::vector<CandidateNode> candidates,
                                        const ResourceRequest& request);

// The roomier of two before the other, the tighter of two as roomy.
bool IsRoomier(const CandidateNode& a, const CandidateNode& b);

}  // namespace muster::core

#pragma once

// Which of the nodes that have room a job gets, and how many tasks on each: the fewest that hold
// it, the tightest of those, lighter ones before heavier ones, the tasks spread evenly. Where the
// network is known, those of the smallest span (core/tree_choice).
//
// The one rule, for placements now (core/availability), for steps inside an allocation (core/span)
// and for what could be. Thread promise: pure. Invariants: (1) every chosen node has a task and no
// more than it has room for; (2) the nodes of the request's list and counts are among them; (3)
// ties fall to the lower position.

#include <cstdint>
#include <vector>

#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster {

class NodeTree;

// A node that could take some of a job's tasks.
struct CandidateNode {
  const NodePicture* node = nullptr;
  std::uint32_t position = 0;  // the caller's; no two have the same
  std::uint32_t room = 0;      // tasks that it takes; not 0
  std::uint32_t cores = 0;     // free ones: the fewer, the tighter
  std::uint32_t weight = 0;    // the node's: the lighter, the sooner
};

// A node, by its position, and the tasks that it gets.
struct NodeShare {
  std::uint32_t node = 0;
  std::uint32_t tasks = 0;
};

// The shares in the order of positions; empty when the candidates do not hold the job. `tree`: of
// the network, over the same positions; null when there is none.
std::vector<NodeShare> ChooseNodes(std::vector<CandidateNode> candidates,
                                   const ResourceRequest& request, const NodeTree* tree = nullptr);

// A part of that rule: the fewest candidates, at least min_nodes, that hold all tasks, the last of
// them as tight as can be, whatever they weigh; in any order, empty when none do.
std::vector<CandidateNode> ChooseFewest(std::vector<CandidateNode> candidates,
                                        const ResourceRequest& request);

// The roomier of two before the other, the tighter of two as roomy.
bool IsRoomier(const CandidateNode& a, const CandidateNode& b);

}  // namespace muster

#pragma once

// Which of the nodes that would do as well keep what the job wants, and so are taken.
//
// What nodes keep is known by marks: images of containers, copies of data (model/plan/node_data).
// Pure. Invariants: without marks, or where no node keeps anything of them, nothing changes; a node
// is only ever preferred to one of the same weight.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/core/place/nodes/candidate.h"
#include "scheduler/core/plan/availability/node_inventory.h"

namespace muster::core {

using KeptMarks = std::vector<std::uint64_t>;

// How many of them the node does not keep.
std::size_t Lacks(const NodeInventory& nodes, const KeptMarks& marks, std::uint32_t node);

// The nodes that keep any of them, in order.
std::vector<std::uint32_t> KeepersOfAny(const NodeInventory& nodes, const KeptMarks& marks);

// Where some node keeps one of them, gives the candidates, which stand in order of position, their
// turns: lighter ones first, of one weight those that lack the fewest.
void GiveTurns(const NodeInventory& nodes, const KeptMarks& marks,
               std::vector<CandidateNode>& candidates);

// Of the nodes, any `count` of which will do and of which the first are taken, those that lack
// fewer take the place of others.
void PutKeepersFirst(const NodeInventory& nodes, const KeptMarks& marks, std::size_t count,
                     std::vector<std::uint32_t>& fitting);

}  // namespace muster::core

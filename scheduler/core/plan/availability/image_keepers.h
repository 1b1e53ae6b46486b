#pragma once

// Which of the nodes that would do as well keep the job's image, and so are taken.
//
// Pure. Invariants: without an image, or where no node keeps it, nothing changes; a node is only
// ever preferred to one of the same weight.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/core/place/nodes/candidate.h"
#include "scheduler/core/plan/availability/node_inventory.h"

namespace muster::core {

// Where some node keeps the image, gives the candidates, which stand in order of position, their
// turns: lighter ones first, of one weight those that keep it.
void GiveTurns(const NodeInventory& nodes, std::uint64_t image,
               std::vector<CandidateNode>& candidates);

// Of the nodes, any `count` of which will do and of which the first are taken, those that keep the
// image take the place of others.
void PutKeepersFirst(const NodeInventory& nodes, std::uint64_t image, std::size_t count,
                     std::vector<std::uint32_t>& fitting);

}  // namespace muster::core

#pragma once

// Nodes for a job that keeps off narrow links: never some on both sides of one.
//
// The nodes are chosen as if no link were narrow (core/place/nodes/node_choice). Where a narrow
// link lies between them, they are chosen again without the nodes of one side and without those of
// the other, and the better choice counts: lighter nodes, then the smaller span, then fewer nodes,
// then the first side. Every choice that keeps off the links is on one side of each, so that none
// is missed; after kSideLooks choices only the side with more room is looked at. Invariants: those
// of node_choice.h; of a job that could lie on one node alone nothing is asked.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/core/place/nodes/candidate.h"
#include "scheduler/core/place/nodes/node_tree.h"
#include "scheduler/model/job/job_spec.h"

namespace muster::core {

inline constexpr std::size_t kSideLooks = 64;

// The shares in the order of positions; empty when the candidates do not hold the job. `tree`: null
// when there is no network.
std::vector<NodeShare> ChooseBesideLinks(std::vector<CandidateNode> candidates,
                                         const ResourceRequest& request, const NodeTree* tree);

// The first narrow link that has some of these nodes on both sides, by its number in the tree.
std::optional<std::size_t> SpannedLink(const std::vector<NodeShare>& shares, const NodeTree& tree);

// Mark, by position, also the nodes on that side of a link; those across a link from that node.
void MarkSide(std::uint32_t side, const NodeTree& tree, std::vector<bool>& marked);
void MarkAcross(std::uint32_t node, const NodeTree& tree, std::vector<bool>& marked);

// "leaf1 and leaf2"
std::string NamesOf(const NarrowLink& link);

}  // namespace muster::core

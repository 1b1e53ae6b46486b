#include "scheduler/core/place/nodes/node_selection.h"

#include <cstdint>
#include <utility>

#include "scheduler/base/status.h"
#include "scheduler/core/place/nodes/feature_match.h"
#include "scheduler/core/place/nodes/narrow_choice.h"
#include "scheduler/core/place/nodes/node_tree.h"
#include "scheduler/core/place/nodes/task_capacity.h"
#include "scheduler/core/place/placement.h"
#include "scheduler/core/place/rank_layout.h"
#include "scheduler/core/place/request.h"

namespace muster::core {
namespace {

NodeSnapshot Emptied(const NodeSnapshot& node) {
  NodeSnapshot empty = node;
  empty.taken = NodeUse();
  return empty;
}

// The node as the view shows it.
NodeSnapshot Seen(const NodeSnapshot& node, ClusterView view) {
  return view == ClusterView::kAsIs ? node : Emptied(node);
}

// Whether the view counts the node, and it may take the job.
bool IsCandidate(const NodeSnapshot& node, const ResourceRequest& request, ClusterView view) {
  return (view == ClusterView::kEmptyAll || (node.up && !IsKeptOff(node, request))) &&
         NodeMay(node, request);
}

// How many tasks at a time the node takes.
std::uint32_t TogetherOn(const NodeSnapshot& node, const ResourceRequest& request) {
  return ScaleOf(CapacityOf(*node.machine), request).together;
}

}  // namespace

std::optional<Allocation> PlaceJob(const std::vector<NodeSnapshot>& nodes,
                                   const ResourceRequest& request, ClusterView view,
                                   const Network* network, const std::vector<NarrowLink>& links) {
  const std::uint32_t limit = MostTasksOnNode(request);
  const bool in_groups = TasksTogether(request).front() > 1;
  std::vector<NodeSnapshot> emptied;
  emptied.reserve(view == ClusterView::kAsIs ? 0 : nodes.size());
  std::vector<CandidateNode> candidates;
  for (const NodeSnapshot& node : nodes) {
    if (!IsCandidate(node, request, view)) {
      continue;
    }
    const NodeSnapshot* snapshot = &node;
    if (view != ClusterView::kAsIs) {
      emptied.push_back(Emptied(node));
      snapshot = &emptied.back();
    }
    std::uint32_t room = PlaceOnNode(*snapshot, request, limit).tasks;
    room -= in_groups ? room % TogetherOn(node, request) : 0;
    if (room > 0) {
      const auto position = static_cast<std::uint32_t>(&node - nodes.data());
      candidates.push_back(
          CandidateNode{snapshot, position, room, FreeCores(*snapshot), snapshot->weight});
    }
  }
  std::optional<NodeTree> tree;
  if (network != nullptr) {
    tree.emplace(*network, nodes, links);
  }
  const std::vector<NodeShare> shares =
      ChooseBesideLinks(std::move(candidates), request, tree.has_value() ? &*tree : nullptr);
  if (shares.empty()) {
    return std::nullopt;
  }
  Allocation allocation;
  for (const NodeShare& share : shares) {
    const bool placed = AddPlaced(PlaceOnNode(Seen(nodes[share.node], view), request, share.tasks),
                                  share.tasks, allocation);
    MUSTER_CHECK(placed);
  }
  LayOutRanks(
      request, [&](std::size_t i) -> const Machine& { return *nodes[shares[i].node].machine; },
      [&](std::size_t i) { return tree.has_value() ? tree->LeafOf(shares[i].node) : 0; },
      allocation);
  return allocation;
}

}  // namespace muster::core

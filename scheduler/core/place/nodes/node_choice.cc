#include "scheduler/core/place/nodes/node_choice.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "scheduler/base/status.h"
#include "scheduler/core/place/nodes/feature_match.h"
#include "scheduler/core/place/nodes/tree_choice.h"
#include "scheduler/core/place/request.h"

namespace muster::core {
namespace {

using Candidates = std::vector<CandidateNode>;

// All weights but the heaviest, in order.
std::vector<std::uint32_t> WeightsOf(const Candidates& candidates) {
  std::vector<std::uint32_t> weights;
  for (const CandidateNode& candidate : candidates) {
    if (weights.empty() || weights.back() != candidate.weight) {
      weights.push_back(candidate.weight);
    }
  }
  std::sort(weights.begin(), weights.end());
  weights.erase(std::unique(weights.begin(), weights.end()), weights.end());
  weights.resize(weights.empty() ? 0 : weights.size() - 1);
  return weights;
}

Candidates ChooseAmong(Candidates candidates, const ResourceRequest& request,
                       const NodeTree* tree) {
  return tree == nullptr ? ChooseFewest(std::move(candidates), request)
                         : ChooseInTree(candidates, request, *tree);
}

// How many tasks at a time: one, or a group that stays on one node, where the nodes have room for
// such.
std::uint32_t UnitOf(const Candidates& chosen, const ResourceRequest& request) {
  for (const std::uint32_t together : TasksTogether(request)) {
    const bool fits = std::uint64_t{together} * chosen.size() <= request.tasks &&
                      std::all_of(chosen.begin(), chosen.end(), [together](const auto& node) {
                        return node.room % together == 0;
                      });
    if (fits && request.tasks % together == 0) {
      return together;
    }
  }
  return 1;
}

// Each node gets one task, the rest go round by round to those with room.
std::vector<NodeShare> Deal(Candidates chosen, const ResourceRequest& request) {
  std::uint32_t tasks = request.tasks;
  const std::uint32_t unit = UnitOf(chosen, request);
  std::sort(chosen.begin(), chosen.end(),
            [](const CandidateNode& a, const CandidateNode& b) { return a.position < b.position; });
  std::vector<NodeShare> shares;
  shares.reserve(chosen.size());
  for (const CandidateNode& candidate : chosen) {
    shares.push_back(NodeShare{candidate.position, 0});
  }
  while (tasks > 0) {
    const std::uint32_t before = tasks;
    for (std::size_t i = 0; i < shares.size() && tasks > 0; ++i) {
      if (shares[i].tasks < chosen[i].room) {
        shares[i].tasks += unit;
        tasks -= unit;
      }
    }
    MUSTER_CHECK(tasks < before);
  }
  return shares;
}

}  // namespace

std::vector<NodeShare> ChooseNodes(std::vector<CandidateNode> candidates,
                                   const ResourceRequest& request, const NodeTree* tree) {
  // Heavier nodes are looked at only where they are needed.
  for (const std::uint32_t weight : WeightsOf(candidates)) {
    Candidates light;
    std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(light),
                 [weight](const CandidateNode& candidate) { return candidate.weight <= weight; });
    Candidates chosen = ChooseAmong(std::move(light), request, tree);
    if (!chosen.empty()) {
      return Deal(std::move(chosen), request);
    }
  }
  Candidates chosen = ChooseAmong(std::move(candidates), request, tree);
  return chosen.empty() ? std::vector<NodeShare>() : Deal(std::move(chosen), request);
}

}  // namespace muster::core

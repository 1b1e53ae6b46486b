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

namespace muster {
namespace {

using Candidates = std::vector<CandidateNode>;

bool IsTighter(const CandidateNode& a, const CandidateNode& b) {
  return a.cores != b.cores ? a.cores < b.cores : a.position < b.position;
}

// Moves the candidates that the job must have to the front; how many they are, or nothing when they
// cannot be had.
std::optional<std::size_t> PutFirst(Candidates& candidates, const ResourceRequest& request) {
  std::vector<const NodePicture*> nodes;
  nodes.reserve(candidates.size());
  for (const CandidateNode& candidate : candidates) {
    nodes.push_back(candidate.node);
  }
  const std::optional<std::vector<std::size_t>> must = MustHave(nodes, request);
  if (!must.has_value()) {
    return std::nullopt;
  }
  std::set<std::uint32_t> first;
  for (const std::size_t index : *must) {
    first.insert(candidates[index].position);
  }
  std::stable_partition(
      candidates.begin(), candidates.end(),
      [&first](const CandidateNode& candidate) { return first.contains(candidate.position); });
  return first.size();
}

// How many of the candidates, the first `fixed` among them, hold all tasks; 0 when none do.
std::size_t NodesNeeded(const Candidates& roomiest, std::size_t most, std::size_t fixed,
                        const ResourceRequest& request) {
  std::uint64_t tasks = 0;
  for (std::size_t i = 0; i < most; ++i) {
    tasks += roomiest[i].room;
    if (i + 1 >= std::max<std::size_t>(request.min_nodes, fixed) && tasks >= request.tasks) {
      return i + 1;
    }
  }
  return 0;
}

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
  const std::uint32_t together = TasksTogether(request);
  const bool fits = std::uint64_t{together} * chosen.size() <= request.tasks &&
                    std::all_of(chosen.begin(), chosen.end(),
                                [together](const auto& node) { return node.room % together == 0; });
  return fits && request.tasks % together == 0 ? together : 1;
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

bool IsRoomier(const CandidateNode& a, const CandidateNode& b) {
  return a.room != b.room ? a.room > b.room : IsTighter(a, b);
}

std::vector<CandidateNode> ChooseFewest(std::vector<CandidateNode> candidates,
                                        const ResourceRequest& request) {
  const std::size_t most = std::min<std::size_t>(candidates.size(), request.max_nodes);
  std::size_t fixed = 0;
  if (NamesNodes(request)) {
    std::sort(candidates.begin(), candidates.end(), IsRoomier);
    const std::optional<std::size_t> must = PutFirst(candidates, request);
    if (!must.has_value()) {
      return {};
    }
    fixed = *must;
  } else {
    std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(most),
                      candidates.end(), IsRoomier);
  }
  const std::size_t count = NodesNeeded(candidates, most, fixed, request);
  if (count == 0) {
    return {};
  }
  std::uint64_t held = 0;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    held += candidates[i].room;
  }
  const std::uint64_t rest = held < request.tasks ? request.tasks - held : 1;
  CandidateNode& last = candidates[count - 1];
  for (std::size_t i = count; count > fixed && i < candidates.size(); ++i) {
    if (candidates[i].room >= rest && IsTighter(candidates[i], last)) {
      last = candidates[i];
    }
  }
  candidates.resize(count);
  return candidates;
}

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

}  // namespace muster

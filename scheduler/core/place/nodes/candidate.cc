#include "scheduler/core/place/nodes/candidate.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "scheduler/core/place/nodes/feature_match.h"

namespace muster::core {
namespace {

using Candidates = std::vector<CandidateNode>;

bool IsTighter(const CandidateNode& a, const CandidateNode& b) {
  if (a.cores != b.cores) {
    return a.cores < b.cores;
  }
  return a.turn != b.turn ? a.turn < b.turn : a.position < b.position;
}

// Moves the candidates that the job must have to the front; how many they are, or nothing when they
// cannot be had.
std::optional<std::size_t> PutFirst(Candidates& candidates, const ResourceRequest& request) {
  std::vector<const NodeSnapshot*> nodes;
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

}  // namespace muster::core

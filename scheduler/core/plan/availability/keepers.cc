#include "scheduler/core/plan/availability/keepers.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace muster::core {
namespace {

// A sum of turns compares by weight first, as long as the nodes of it lack fewer things together.
constexpr int kNodesBits = 20;

bool SomeNodeKeepsOne(const NodeInventory& nodes, const KeptMarks& marks) {
  return std::any_of(marks.begin(), marks.end(),
                     [&nodes](std::uint64_t mark) { return !nodes.KeepersOf(mark).empty(); });
}

}  // namespace

std::size_t Lacks(const NodeInventory& nodes, const KeptMarks& marks, std::uint32_t node) {
  return static_cast<std::size_t>(
      std::count_if(marks.begin(), marks.end(), [&](std::uint64_t mark) {
        const std::vector<std::uint32_t>& keepers = nodes.KeepersOf(mark);
        return !std::binary_search(keepers.begin(), keepers.end(), node);
      }));
}

std::vector<std::uint32_t> KeepersOfAny(const NodeInventory& nodes, const KeptMarks& marks) {
  if (marks.size() == 1) {
    return nodes.KeepersOf(marks.front());
  }
  std::set<std::uint32_t> all;
  for (const std::uint64_t mark : marks) {
    const std::vector<std::uint32_t>& keepers = nodes.KeepersOf(mark);
    all.insert(keepers.begin(), keepers.end());
  }
  return {all.begin(), all.end()};
}

void GiveTurns(const NodeInventory& nodes, const KeptMarks& marks,
               std::vector<CandidateNode>& candidates) {
  if (!SomeNodeKeepsOne(nodes, marks)) {
    return;
  }
  for (CandidateNode& candidate : candidates) {
    candidate.turn =
        (std::uint64_t{candidate.weight} << kNodesBits) + Lacks(nodes, marks, candidate.position);
  }
}

void PutKeepersFirst(const NodeInventory& nodes, const KeptMarks& marks, std::size_t count,
                     std::vector<std::uint32_t>& fitting) {
  if (!SomeNodeKeepsOne(nodes, marks)) {
    return;
  }
  const auto weight = [&](std::uint32_t node) { return nodes.snapshot().nodes[node].weight; };
  const auto lacks = [&](std::size_t at) { return Lacks(nodes, marks, fitting[at]); };
  // Those beyond the count that keep something, by weight; of each the best, and then the first, at
  // the beginning.
  std::map<std::uint32_t, std::set<std::pair<std::size_t, std::size_t>>> spare;
  for (std::size_t i = count; i < fitting.size(); ++i) {
    if (const std::size_t its = lacks(i); its < marks.size()) {
      spare[weight(fitting[i])].insert({its, i});
    }
  }
  for (std::size_t i = 0; i < count && !spare.empty(); ++i) {
    const auto found = spare.find(weight(fitting[i]));
    if (found != spare.end() && !found->second.empty() && found->second.begin()->first < lacks(i)) {
      std::swap(fitting[i], fitting[found->second.begin()->second]);
      found->second.erase(found->second.begin());
    }
  }
  std::sort(fitting.begin(), fitting.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace muster::core

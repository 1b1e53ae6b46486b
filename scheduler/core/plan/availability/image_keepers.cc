#include "scheduler/core/plan/availability/image_keepers.h"

#include <algorithm>
#include <map>
#include <utility>

namespace muster::core {
namespace {

// A sum of turns compares by weight first, as long as it is of fewer nodes.
constexpr int kNodesBits = 20;

}  // namespace

void GiveTurns(const NodeInventory& nodes, std::uint64_t image,
               std::vector<CandidateNode>& candidates) {
  const std::vector<std::uint32_t>& keepers = nodes.KeepersOf(image);
  if (keepers.empty()) {
    return;
  }
  auto keeper = keepers.begin();
  for (CandidateNode& candidate : candidates) {
    keeper = std::lower_bound(keeper, keepers.end(), candidate.position);
    const bool fetches = keeper == keepers.end() || *keeper != candidate.position;
    candidate.turn = (std::uint64_t{candidate.weight} << kNodesBits) + (fetches ? 1 : 0);
  }
}

void PutKeepersFirst(const NodeInventory& nodes, std::uint64_t image, std::size_t count,
                     std::vector<std::uint32_t>& fitting) {
  const std::vector<std::uint32_t>& keepers = nodes.KeepersOf(image);
  if (keepers.empty()) {
    return;
  }
  const auto keeps = [&](std::uint32_t node) {
    return std::binary_search(keepers.begin(), keepers.end(), node);
  };
  const auto weight = [&](std::uint32_t node) { return nodes.snapshot().nodes[node].weight; };
  std::map<std::uint32_t, std::vector<std::size_t>> spare;  // keepers beyond the count, by weight
  for (std::size_t i = fitting.size(); i-- > count;) {
    if (keeps(fitting[i])) {
      spare[weight(fitting[i])].push_back(i);
    }
  }
  for (std::size_t i = 0; i < count && !spare.empty(); ++i) {
    const auto found = spare.find(weight(fitting[i]));
    if (found != spare.end() && !found->second.empty() && !keeps(fitting[i])) {
      std::swap(fitting[i], fitting[found->second.back()]);
      found->second.pop_back();
    }
  }
  std::sort(fitting.begin(), fitting.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace muster::core

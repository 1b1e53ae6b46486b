#include "checkpoint/parity/protection_set.h"

#include <algorithm>
#include <cstddef>
#include <map>

namespace muster::checkpoint {
namespace {

// Ranks of different domains, cut into sets; a rest that is too small goes to the last set.
void Cut(const ProtectionSet& ranks, std::size_t size, std::uint32_t parities,
         std::vector<ProtectionSet>* sets) {
  std::size_t at = 0;
  while (ranks.size() - at > parities) {
    std::size_t count = std::min(size, ranks.size() - at);
    const std::size_t rest = ranks.size() - at - count;
    if (rest > 0 && rest <= parities && count + rest <= kSetMembersMax) {
      count += rest;
    }
    const auto begin = ranks.begin() + static_cast<std::ptrdiff_t>(at);
    sets->emplace_back(begin, begin + static_cast<std::ptrdiff_t>(count));
    at += count;
  }
}

}  // namespace

std::vector<ProtectionSet> MakeSets(const std::vector<std::uint64_t>& domains, std::uint32_t size,
                                    std::uint32_t parities) {
  // The first rank of each domain, then the second of each, and so on.
  std::map<std::uint64_t, std::size_t> seen;
  std::vector<ProtectionSet> layers;
  for (std::uint32_t rank = 0; rank < domains.size(); ++rank) {
    const std::size_t layer = seen[domains[rank]]++;
    layers.resize(std::max(layers.size(), layer + 1));
    layers[layer].push_back(rank);
  }
  std::vector<ProtectionSet> sets;
  const std::size_t members = std::clamp<std::size_t>(size, parities + 1, kSetMembersMax);
  for (const ProtectionSet& layer : layers) {
    Cut(layer, members, parities, &sets);
  }
  return sets;
}

ProtectionSet SetOf(const std::vector<ProtectionSet>& sets, std::uint32_t rank) {
  for (const ProtectionSet& set : sets) {
    if (std::find(set.begin(), set.end(), rank) != set.end()) {
      return set;
    }
  }
  return {};
}

}  // namespace muster::checkpoint

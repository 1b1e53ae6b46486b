#include "scheduler/core/place/nodes/network_span.h"

#include <algorithm>
#include <map>
#include <set>

namespace muster::core {
namespace {

std::vector<std::uint32_t> Positions(const std::set<std::uint32_t>& some) {
  return {some.begin(), some.end()};
}

// The narrowest of the links from the leaf up to `top`.
void Narrow(const Network& network, std::uint32_t leaf, std::uint32_t top,
            std::uint64_t& bandwidth) {
  for (std::uint32_t at = leaf; at != kNowhere; at = network.switches[at].parent) {
    const std::uint64_t its = network.switches[at].down.bandwidth;
    if (its > 0) {
      bandwidth = bandwidth == 0 ? its : std::min(bandwidth, its);
    }
    if (at == top) {
      return;
    }
  }
}

}  // namespace

NetworkSpan SpanOf(const Network& network, const std::vector<std::string>& nodes) {
  std::map<std::string, std::uint32_t> places;
  for (std::uint32_t i = 0; i < network.nodes.size(); ++i) {
    places.emplace(network.nodes[i].name, i);
  }
  NetworkSpan span;
  std::set<std::uint32_t> leaves;
  std::set<std::uint32_t> blocks;
  std::set<std::uint32_t> domains;
  std::uint32_t first = kNowhere;
  for (const std::string& name : nodes) {
    const auto place = places.find(name);
    if (place == places.end()) {
      span.known = false;
      continue;
    }
    const NetworkNode& node = network.nodes[place->second];
    if (first == kNowhere) {
      first = place->second;
      span.top = node.leaf;
    } else if (span.top != kNowhere) {
      const std::uint32_t met = SwitchAbove(network, first, place->second);
      // Both are above `first`, so one of them is above the other; it has the lower position.
      span.top = met == kNowhere ? kNowhere : std::min(span.top, met);
    }
    for (const auto& [position, into] :
         {std::pair{node.leaf, &leaves}, {node.block, &blocks}, {node.domain, &domains}}) {
      if (position != kNowhere) {
        into->insert(position);
      }
    }
  }
  span.top = span.known ? span.top : kNowhere;
  span.leaves = Positions(leaves);
  span.blocks = Positions(blocks);
  span.domains = Positions(domains);
  for (const std::uint32_t leaf : span.leaves) {
    Narrow(network, leaf, span.top, span.bandwidth);
  }
  return span;
}

}  // namespace muster::core

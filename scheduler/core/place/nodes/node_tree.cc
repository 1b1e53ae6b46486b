#include "scheduler/core/place/nodes/node_tree.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

namespace muster::core {
namespace {

constexpr std::uint32_t kTop = 0;

// What the network hangs its nodes on.
std::uint32_t NetworkNode::*LeafMember(const Network& network) {
  if (!network.switches.empty()) {
    return &NetworkNode::leaf;
  }
  return network.blocks.empty() ? &NetworkNode::domain : &NetworkNode::block;
}

}  // namespace

NodeTree::NodeTree(const Network& network, const std::vector<NodeSnapshot>& nodes,
                   const std::vector<NarrowLink>& links) {
  Add(kNowhere);
  std::vector<std::uint32_t> numbers;
  if (!network.switches.empty()) {
    numbers = AddSwitches(network);
  } else if (!network.blocks.empty()) {
    numbers = AddBlocks(network);
  } else {
    for (std::size_t i = 0; i < network.nvlink_domains.size(); ++i) {
      numbers.push_back(Add(kTop));
    }
  }
  const auto member = LeafMember(network);
  std::unordered_map<std::string_view, std::uint32_t> leaf_of;
  for (const NetworkNode& node : network.nodes) {
    if (node.*member != kNowhere) {
      leaf_of.emplace(node.name, numbers[node.*member]);
    }
  }
  leaf_of_.reserve(nodes.size());
  for (const NodeSnapshot& node : nodes) {
    const auto found = leaf_of.find(node.name);
    leaf_of_.push_back(found == leaf_of.end() ? Add(kTop) : found->second);
  }
  levels_.resize(parents_.size(), 0);
  for (std::size_t i = parents_.size(); i-- > 1;) {
    levels_[parents_[i]] = std::max(levels_[parents_[i]], levels_[i] + 1);
  }
  if (!network.switches.empty()) {
    AddLinks(network, numbers, links);
  }
}

void NodeTree::AddLinks(const Network& network, const std::vector<std::uint32_t>& numbers,
                        const std::vector<NarrowLink>& links) {
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> ends;  // sides, by switch
  for (const NarrowLink& link : links) {
    const std::uint32_t first = PositionOfSwitch(network, link.first);
    const std::uint32_t second = PositionOfSwitch(network, link.second);
    if (first == kNowhere || second == kNowhere || IsAtOrAbove(network, first, second) ||
        IsAtOrAbove(network, second, first)) {
      continue;
    }
    const auto side = static_cast<std::uint32_t>(2 * links_.size());
    ends[numbers[first]].push_back(side);
    ends[numbers[second]].push_back(side + 1);
    links_.push_back(link);
  }
  if (links_.empty()) {
    return;
  }
  sides_.resize(parents_.size());
  for (std::uint32_t at = 1; at < parents_.size(); ++at) {  // parents stand before
    sides_[at] = sides_[parents_[at]];
    if (const auto own = ends.find(at); own != ends.end()) {
      sides_[at].insert(sides_[at].end(), own->second.begin(), own->second.end());
      std::sort(sides_[at].begin(), sides_[at].end());
    }
  }
}

std::uint32_t NodeTree::Add(std::uint32_t parent) {
  parents_.push_back(parent);
  return static_cast<std::uint32_t>(parents_.size()) - 1;
}

std::vector<std::uint32_t> NodeTree::AddSwitches(const Network& network) {
  std::vector<std::uint32_t> numbers;
  for (const NetworkSwitch& one : network.switches) {
    numbers.push_back(Add(one.parent == kNowhere ? kTop : numbers[one.parent]));
  }
  return numbers;
}

// Blocks are put together in their order: the first of a size, the next, and so on.
std::vector<std::uint32_t> NodeTree::AddBlocks(const Network& network) {
  const std::uint32_t base =
      network.block_sizes.empty() ? 1 : std::max(network.block_sizes.front(), 1U);
  std::set<std::uint32_t> ratios;
  for (const std::uint32_t size : network.block_sizes) {
    ratios.insert(size / base);
  }
  ratios.erase(0);
  ratios.erase(1);
  std::vector<std::uint32_t> above(network.blocks.size(), kTop);
  for (auto ratio = ratios.rbegin(); ratio != ratios.rend(); ++ratio) {
    std::uint32_t joined = kTop;
    for (std::uint32_t block = 0; block < above.size(); ++block) {
      joined = block % *ratio == 0 ? Add(above[block]) : joined;
      above[block] = joined;
    }
  }
  for (std::uint32_t& block : above) {
    block = Add(block);
  }
  return above;
}

}  // namespace muster::core

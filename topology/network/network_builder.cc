#include "topology/network/network_builder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/base/utf8.h"

namespace muster::topology {
namespace {

constexpr std::size_t kNodesMax = std::size_t{1} << 18;

std::string Quoted(const std::string& text) {
  constexpr std::size_t kMost = 60;
  return absl::StrCat("\"", EscapeControl(text.substr(0, kMost)), text.size() > kMost ? "…" : "",
                      "\"");
}

}  // namespace

NetworkBuilder::NetworkBuilder(std::string source) {
  network_.source = std::move(source);
}

absl::Status NetworkBuilder::ErrorAt(std::size_t line, const std::string& what) const {
  return absl::InvalidArgumentError(absl::StrCat(network_.source, ":", line, ": ", what));
}

absl::StatusOr<std::vector<std::string>> NetworkBuilder::Names(const std::string& list,
                                                               std::size_t line) const {
  absl::StatusOr<std::vector<std::string>> names = ExpandHostlist(list);
  if (absl::IsResourceExhausted(names.status())) {
    return ErrorAt(line, absl::StrCat(Quoted(list), " names more than ", kHostsMax, " nodes"));
  }
  if (!names.ok()) {
    return ErrorAt(line, absl::StrCat(Quoted(list), " is no list of names like n1,n[3-5,07]"));
  }
  return names;
}

absl::StatusOr<std::uint32_t> NetworkBuilder::NodeCalled(const std::string& name,
                                                         std::size_t line) {
  const auto [known, is_new] =
      node_called_.emplace(name, static_cast<std::uint32_t>(network_.nodes.size()));
  if (is_new) {
    if (network_.nodes.size() == kNodesMax) {
      return ErrorAt(line, absl::StrCat("more than ", kNodesMax, " nodes"));
    }
    network_.nodes.push_back({name, kNowhere, kNowhere, kNowhere});
  }
  return known->second;
}

absl::Status NetworkBuilder::AddSwitch(SwitchEntry entry) {
  const auto index = static_cast<std::uint32_t>(entries_.size());
  const auto [known, is_new] = switch_called_.emplace(entry.name, index);
  if (!is_new) {
    return ErrorAt(entry.line, absl::StrCat("switch ", entry.name, " is there already, at line ",
                                            entries_[known->second].line, ": name it once"));
  }
  if (entry.switches.empty() && entry.nodes.empty()) {
    return ErrorAt(entry.line, absl::StrCat("switch ", entry.name,
                                            " has nothing below it: give it nodes or switches"));
  }
  if (!entry.switches.empty() && !entry.nodes.empty()) {
    return ErrorAt(entry.line, absl::StrCat("switch ", entry.name,
                                            " has both nodes and switches "
                                            "below it: put the nodes below a switch of their own"));
  }
  for (const std::string& name : entry.nodes) {
    ASSIGN_OR_RETURN(const std::uint32_t node, NodeCalled(name, entry.line));
    std::uint32_t& leaf = network_.nodes[node].leaf;
    if (leaf != kNowhere) {
      const SwitchEntry& other = leaf == index ? entry : entries_[leaf];
      return ErrorAt(entry.line,
                     absl::StrCat("node ", name, " is already below switch ", other.name,
                                  ", at line ", other.line, ": name it once"));
    }
    leaf = index;
  }
  entries_.push_back(std::move(entry));
  return absl::OkStatus();
}

absl::Status NetworkBuilder::AddGroup(const GroupEntry& entry, const char* what, Groups& groups,
                                      std::uint32_t NetworkNode::*member,
                                      std::map<std::string, std::size_t>& lines) {
  const auto [known, is_new] = lines.emplace(entry.name, entry.line);
  if (!is_new) {
    return ErrorAt(entry.line, absl::StrCat(what, " ", entry.name, " is there already, at line ",
                                            known->second, ": name it once"));
  }
  const auto index = static_cast<std::uint32_t>(groups.size());
  groups.push_back({entry.name, entry.speed});
  for (const std::string& name : entry.nodes) {
    ASSIGN_OR_RETURN(const std::uint32_t node, NodeCalled(name, entry.line));
    std::uint32_t& group = network_.nodes[node].*member;
    if (group != kNowhere) {
      return ErrorAt(entry.line,
                     absl::StrCat("node ", name, " is already in ", what, " ", groups[group].name,
                                  ", at line ", lines.at(groups[group].name), ": name it once"));
    }
    group = index;
  }
  return absl::OkStatus();
}

absl::Status NetworkBuilder::AddBlock(const GroupEntry& entry) {
  return AddGroup(entry, "block", network_.blocks, &NetworkNode::block, block_lines_);
}

absl::Status NetworkBuilder::AddDomain(const GroupEntry& entry) {
  return AddGroup(entry, "NVLink domain", network_.nvlink_domains, &NetworkNode::domain,
                  domain_lines_);
}

absl::Status NetworkBuilder::SetBlockSizes(const std::vector<std::uint32_t>& sizes,
                                           std::size_t line) {
  if (!network_.block_sizes.empty()) {
    return ErrorAt(line, "the block sizes are there already: say them once");
  }
  for (const std::uint32_t size : sizes) {
    const std::uint32_t base = sizes.front();
    const std::uint32_t times = base == 0 ? 0 : size / base;
    if (base == 0 || size % base != 0 || (times & (times - 1)) != 0 ||
        (!network_.block_sizes.empty() && size <= network_.block_sizes.back())) {
      return ErrorAt(line, absl::StrCat("block size ", size,
                                        " does not follow: sizes rise, and each is the first one "
                                        "doubled, like 4,8,16"));
    }
    network_.block_sizes.push_back(size);
  }
  return absl::OkStatus();
}

absl::Status NetworkBuilder::LinkParents() {
  parents_.assign(entries_.size(), kNowhere);
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    const SwitchEntry& entry = entries_[i];
    for (const std::string& name : entry.switches) {
      const auto child = switch_called_.find(name);
      if (child == switch_called_.end()) {
        return ErrorAt(entry.line, absl::StrCat("switch ", entry.name, " has ", name,
                                                " below it, which no line describes: add it"));
      }
      std::uint32_t& parent = parents_[child->second];
      if (parent != kNowhere) {
        return ErrorAt(
            entry.line,
            absl::StrCat("switch ", name, " is already below switch ", entries_[parent].name,
                         ", at line ", entries_[parent].line, ": a switch has one above it"));
      }
      parent = i;
    }
  }
  return absl::OkStatus();
}

absl::Status NetworkBuilder::CycleError(std::size_t first) const {
  // Every switch has one parent at most, so going up from one that no root reaches goes round.
  std::vector<bool> seen(entries_.size(), false);
  std::size_t at = first;
  while (!seen[at]) {
    seen[at] = true;
    at = parents_[at];
  }
  std::string way = entries_[at].name;
  for (std::size_t up = parents_[at]; up != at; up = parents_[up]) {
    absl::StrAppend(&way, " below ", entries_[up].name);
  }
  return ErrorAt(entries_[at].line,
                 absl::StrCat("switch ", entries_[at].name, " is below itself: ", way, " below ",
                              entries_[at].name, ": take one link out"));
}

// Parents before their children, roots in the order of the file; then the levels from below.
absl::Status NetworkBuilder::OrderSwitches() {
  std::vector<std::vector<std::uint32_t>> children(entries_.size());
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    if (parents_[i] == kNowhere) {
      order.push_back(i);
    } else {
      children[parents_[i]].push_back(i);
    }
  }
  for (std::size_t next = 0; next < order.size(); ++next) {
    const std::vector<std::uint32_t>& below = children[order[next]];
    order.insert(order.end(), below.begin(), below.end());
  }
  std::vector<std::uint32_t> place(entries_.size(), kNowhere);
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
  }
  const auto unreached = std::find(place.begin(), place.end(), kNowhere);
  if (unreached != place.end()) {
    return CycleError(static_cast<std::size_t>(unreached - place.begin()));
  }
  for (const std::uint32_t i : order) {
    const SwitchEntry& entry = entries_[i];
    network_.switches.push_back({entry.name, entry.kind,
                                 parents_[i] == kNowhere ? kNowhere : place[parents_[i]], 0,
                                 entry.down});
  }
  for (std::size_t i = network_.switches.size(); i-- > 0;) {
    const NetworkSwitch& below = network_.switches[i];
    if (below.parent != kNowhere) {
      std::uint32_t& level = network_.switches[below.parent].level;
      level = std::max(level, below.level + 1);
    }
  }
  for (NetworkNode& node : network_.nodes) {
    node.leaf = node.leaf == kNowhere ? kNowhere : place[node.leaf];
  }
  return absl::OkStatus();
}

void NetworkBuilder::RemarkOnGaps() {
  const auto count = [this](auto holds) {
    return std::count_if(network_.nodes.begin(), network_.nodes.end(), holds);
  };
  const auto off = count([](const NetworkNode& node) { return node.leaf == kNowhere; });
  if (off > 0 && !network_.switches.empty()) {
    AddRemark(absl::StrCat(network_.source, ": ", off, " nodes are below no switch"));
  }
  const auto roots = std::count_if(network_.switches.begin(), network_.switches.end(),
                                   [](const NetworkSwitch& s) { return s.parent == kNowhere; });
  if (roots > 1) {
    AddRemark(absl::StrCat(network_.source, ": ", roots,
                           " switches have none above them: no line says how they are joined"));
  }
  for (std::uint32_t i = 0; i < network_.blocks.size() && !network_.block_sizes.empty(); ++i) {
    const auto nodes = count([i](const NetworkNode& node) { return node.block == i; });
    if (nodes < network_.block_sizes.front()) {
      AddRemark(absl::StrCat(network_.source, ": block ", network_.blocks[i].name, " has ", nodes,
                             " nodes, fewer than a base block of ", network_.block_sizes.front()));
    }
  }
}

absl::StatusOr<Network> NetworkBuilder::Build() {
  RETURN_IF_ERROR(LinkParents());
  RETURN_IF_ERROR(OrderSwitches());
  if (network_.nodes.empty()) {
    return ErrorAt(1, "names no nodes");
  }
  RemarkOnGaps();
  return std::move(network_);
}

}  // namespace muster::topology

#include "scheduler/core/place/nodes/feature_match.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/contains.h"
#include "scheduler/core/place/request.h"

namespace muster::core {
namespace {

constexpr std::size_t kFeatureBytesMax = 64;
constexpr std::size_t kNamesShown = 3;

// As many nodes are listed as the job may have: no other can be used.
bool ListIsComplete(const ResourceRequest& request) {
  return !request.nodelist.empty() && request.nodelist.size() >= request.max_nodes;
}

bool AsksOfMachines(const ResourceRequest& request) {
  const bool by_layout = request.layout.has_value() &&
                         (!request.layout->cpu_list.empty() || !request.layout->mem_list.empty() ||
                          request.layout->cores_per_socket > 0);
  return by_layout || request.sockets_per_node > 0 || request.min_cpus > 0 || !request.tmp.zero();
}

std::string SomeOf(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamesShown, names.size()); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", names[i]);
  }
  return names.size() > kNamesShown
             ? absl::StrCat(text, " and ", names.size() - kNamesShown, " more")
             : text;
}

std::vector<std::string> MissingOf(const std::vector<const NodeSnapshot*>& nodes,
                                   const std::vector<std::string>& names) {
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    if (std::none_of(nodes.begin(), nodes.end(),
                     [&name](const NodeSnapshot* node) { return node->name == name; })) {
      missing.push_back(name);
    }
  }
  return missing;
}

// How many of the chosen nodes have what the expression asks for.
std::uint32_t CountMatches(const FeatureExpression& expression,
                           const std::vector<const NodeSnapshot*>& nodes,
                           const std::vector<std::size_t>& chosen) {
  return static_cast<std::uint32_t>(std::count_if(
      chosen.begin(), chosen.end(),
      [&](std::size_t position) { return Matches(expression, nodes[position]->features); }));
}

std::vector<std::size_t> ListedOf(const std::vector<const NodeSnapshot*>& nodes,
                                  const ResourceRequest& request) {
  std::vector<std::size_t> listed;
  for (std::size_t i = 0; i < nodes.size() && !request.nodelist.empty(); ++i) {
    if (Contains(request.nodelist, nodes[i]->name)) {
      listed.push_back(i);
    }
  }
  return listed;
}

// The chosen ones, and for each count what it lacks beside them, taken in that order.
std::optional<std::vector<std::size_t>> WithCounts(const std::vector<const NodeSnapshot*>& nodes,
                                                   const ResourceRequest& request,
                                                   const std::vector<std::size_t>& order,
                                                   std::vector<std::size_t> chosen) {
  std::vector<bool> taken(nodes.size());
  for (const std::size_t position : chosen) {
    taken[position] = true;
  }
  for (const FeatureCount& count : request.constraint.counts) {
    std::uint32_t have = CountMatches(count.expression, nodes, chosen);
    for (auto at = order.begin(); at != order.end() && have < count.nodes; ++at) {
      if (!taken[*at] && Matches(count.expression, nodes[*at]->features)) {
        taken[*at] = true;
        chosen.push_back(*at);
        ++have;
      }
    }
    if (have < count.nodes) {
      return std::nullopt;
    }
  }
  return chosen;
}

}  // namespace

bool IsFeatureName(const std::string& name) {
  return !name.empty() && name.size() <= kFeatureBytesMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  c == '.' || c == '_' || c == '-';
         });
}

bool Matches(const FeatureExpression& expression, const std::vector<std::string>& features) {
  std::vector<bool> stack;
  for (const FeatureToken& token : expression.postfix) {
    if (token.op == FeatureOp::kHas) {
      stack.push_back(std::binary_search(features.begin(), features.end(), token.name));
      continue;
    }
    const bool right = stack.back();
    if (token.op == FeatureOp::kNot) {
      stack.back() = !right;
      continue;
    }
    stack.pop_back();
    stack.back() = token.op == FeatureOp::kAnd ? stack.back() && right : stack.back() || right;
  }
  return stack.empty() || stack.back();
}

bool NodeMay(const NodeSnapshot& node, const ResourceRequest& request) {
  return (request.constraint.every.postfix.empty() ||
          Matches(request.constraint.every, node.features)) &&
         (request.exclude.empty() || !Contains(request.exclude, node.name)) &&
         (!ListIsComplete(request) || Contains(request.nodelist, node.name)) &&
         (!AsksOfMachines(request) || WhyNoMachine(request, *node.machine).empty());
}

bool IsKeptOff(const NodeSnapshot& node, const ResourceRequest& request) {
  return node.drained || (node.narrow && MaySpanNodes(request));
}

bool MaySpanNodes(const ResourceRequest& request) {
  return request.max_nodes > 1 && request.tasks > 1;
}

std::optional<Shortage> WhyNodeMayNot(const NodeSnapshot& node, const ResourceRequest& request) {
  if (NodeMay(node, request)) {
    return std::nullopt;
  }
  if (Contains(request.exclude, node.name)) {
    return Shortage{ShortageKind::kExcluded, 1, 0, 0};
  }
  if (!Matches(request.constraint.every, node.features)) {
    return Shortage{ShortageKind::kFeatures, 1, 0, 0, ToText(request.constraint.every)};
  }
  if (ListIsComplete(request) && !Contains(request.nodelist, node.name)) {
    return Shortage{ShortageKind::kNotListed, 1, 0, 0};
  }
  return Shortage{ShortageKind::kLayout, 1, 0, 0, WhyNoMachine(request, *node.machine)};
}

bool DescribesNodes(const ResourceRequest& request) {
  return !request.constraint.every.postfix.empty() || !request.exclude.empty() ||
         !request.nodelist.empty() || AsksOfMachines(request);
}

bool NamesNodes(const ResourceRequest& request) {
  return !request.nodelist.empty() || !request.constraint.counts.empty();
}

std::optional<std::vector<std::size_t>> MustHave(const std::vector<const NodeSnapshot*>& nodes,
                                                 const ResourceRequest& request) {
  const std::vector<std::size_t> listed = ListedOf(nodes, request);
  if (listed.size() < request.nodelist.size()) {
    return std::nullopt;
  }
  const std::size_t most = std::min(request.max_nodes, request.tasks);
  std::vector<std::size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::optional<std::vector<std::size_t>> chosen = WithCounts(nodes, request, order, listed);
  if (chosen.has_value() && chosen->size() > most) {
    const auto counts = [&](std::size_t i) {
      return std::count_if(
          request.constraint.counts.begin(), request.constraint.counts.end(),
          [&](const FeatureCount& count) { return Matches(count.expression, nodes[i]->features); });
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return counts(a) > counts(b); });
    chosen = WithCounts(nodes, request, order, listed);
  }
  return chosen.has_value() && chosen->size() <= most ? chosen : std::nullopt;
}

std::vector<Shortage> WhyNotHad(const std::vector<const NodeSnapshot*>& nodes,
                                const ResourceRequest& request) {
  std::vector<Shortage> shortages;
  const std::vector<std::string> missing = MissingOf(nodes, request.nodelist);
  if (!missing.empty()) {
    shortages.push_back(Shortage{ShortageKind::kListedNodes, 0, request.nodelist.size(),
                                 request.nodelist.size() - missing.size(), SomeOf(missing)});
  }
  for (const FeatureCount& count : request.constraint.counts) {
    const auto have = static_cast<std::uint64_t>(std::count_if(
        nodes.begin(), nodes.end(),
        [&count](const NodeSnapshot* node) { return Matches(count.expression, node->features); }));
    if (have < count.nodes) {
      shortages.push_back(
          Shortage{ShortageKind::kFeatureNodes, 0, count.nodes, have, ToText(count.expression)});
    }
  }
  return shortages;
}

}  // namespace muster::core

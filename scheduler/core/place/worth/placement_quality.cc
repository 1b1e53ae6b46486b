#include "scheduler/core/place/worth/placement_quality.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/words.h"
#include "scheduler/core/place/locality.h"
#include "scheduler/core/place/nodes/block_placement.h"
#include "scheduler/core/place/nodes/network_span.h"
#include "scheduler/core/place/worth/placement_cost.h"

namespace muster::core {
namespace {

std::uint64_t Nanoseconds(double seconds) {
  constexpr double kPerSecond = 1e9;
  return static_cast<std::uint64_t>(std::llround(seconds * kPerSecond));
}

using Machines = std::map<NodeId, const Machine*>;

Machines MachinesOf(const std::vector<NodeSnapshot>& nodes) {
  Machines machines;
  for (const NodeSnapshot& node : nodes) {
    machines.emplace(node.id, node.machine.get());
  }
  return machines;
}

std::vector<PlacementLevel> LevelsOf(const Allocation& allocation, const Machines& machines,
                                     const Network* network) {
  std::vector<PlacedPart> parts;
  for (const NodeAllocation& part : allocation.nodes) {
    const auto machine = machines.find(part.node);
    if (machine != machines.end()) {
      parts.push_back({&part, machine->second});
    }
  }
  return LevelsOf(parts, network);
}

// The nodes as they would be without the job.
std::vector<NodeSnapshot> WithoutJob(std::vector<NodeSnapshot> nodes, JobId job,
                                     const Allocation& allocation) {
  for (const NodeAllocation& part : allocation.nodes) {
    const auto node =
        std::find_if(nodes.begin(), nodes.end(),
                     [&part](const NodeSnapshot& snapshot) { return snapshot.id == part.node; });
    if (node == nodes.end() ||
        std::none_of(node->holdings.begin(), node->holdings.end(),
                     [job](const Holding& holding) { return holding.job == job; })) {
      continue;
    }
    node->taken.cpus -= part.cpus;
    node->taken.memory -= std::min(part.memory, node->taken.memory);
    TakeFrom(node->taken.gres, part.gres);
    for (const GpuGrant& grant : part.gpus) {
      if (grant.gpu < node->taken.gpus.size()) {
        GpuShare& taken = node->taken.gpus[grant.gpu];
        taken -= std::min(grant.share, taken);
      }
    }
  }
  return nodes;
}

}  // namespace

std::string SpanSentence(const Network& network, const std::vector<std::string>& nodes) {
  const NetworkSpan span = SpanOf(network, nodes);
  std::string text;
  const auto add = [&text](const std::string& piece) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", piece);
  };
  if (!network.switches.empty()) {
    add(span.top == kNowhere
            ? "no switch above all nodes is known"
            : absl::StrCat("below switch ", network.switches[span.top].name, ", ",
                           Counted(span.leaves.size(), "leaf switch", "leaf switches")));
  }
  if (!network.blocks.empty()) {
    add(Counted(span.blocks.size(), "block", "blocks"));
  }
  if (!network.nvlink_domains.empty()) {
    add(Counted(span.domains.size(), "NVLink domain", "NVLink domains"));
  }
  return text;
}

PlacementQuality WorthOf(const Allocation& allocation, const std::vector<NodeSnapshot>& nodes,
                         const Network* network) {
  const Machines machines = MachinesOf(nodes);
  PlacementQuality worth;
  Locality locality;
  std::vector<std::string> names;
  for (const NodeAllocation& part : allocation.nodes) {
    names.push_back(part.name);
    if (const auto machine = machines.find(part.node); machine != machines.end()) {
      AddLocality(*machine->second, part, locality);
    }
  }
  worth.ranks = locality.ranks;
  worth.local_ranks = locality.local;
  worth.span = network != nullptr ? SpanSentence(*network, names) : "";
  const std::vector<PlacementLevel> levels = LevelsOf(allocation, machines, network);
  for (const auto& [name, collective] : kCollectives) {
    if (const auto cost = PredictPlaced(levels, collective, kMessage); cost.has_value()) {
      worth.predicted.push_back(PredictedCollective{name, kMessage, Nanoseconds(cost->seconds),
                                                    ToText(cost->algorithm), 0, ""});
    }
  }
  return worth;
}

void Compare(JobId job, const Allocation& allocation, const ResourceRequest& request,
             const std::vector<NodeSnapshot>& nodes, const Network* network,
             PlacementQuality& worth) {
  const std::optional<Allocation> blocks =
      worth.predicted.empty() ? std::nullopt
                              : PlaceInBlocks(WithoutJob(nodes, job, allocation), request);
  if (!blocks.has_value()) {
    return;
  }
  const std::vector<PlacementLevel> levels = LevelsOf(*blocks, MachinesOf(nodes), network);
  for (PredictedCollective& predicted : worth.predicted) {
    for (const auto& [name, collective] : kCollectives) {
      const auto cost = predicted.name == name ? PredictPlaced(levels, collective, predicted.bytes)
                                               : std::nullopt;
      if (cost.has_value()) {
        predicted.default_nanoseconds = Nanoseconds(cost->seconds);
        predicted.default_algorithm = ToText(cost->algorithm);
      }
    }
  }
}

}  // namespace muster::core

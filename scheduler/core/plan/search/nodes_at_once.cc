#include "scheduler/core/plan/search/nodes_at_once.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/core/place/nodes/feature_match.h"
#include "scheduler/core/place/nodes/task_capacity.h"
#include "scheduler/core/place/request.h"

namespace muster::core {
namespace {

// How many tasks each node that fits takes when nothing else runs, by class; null: no maximum.
using Rooms = std::map<const PowerClass*, std::vector<std::uint32_t>>;

Rooms RoomsOf(const std::vector<NodeSnapshot>& nodes, const std::vector<bool>* inside,
              const ResourceRequest& request, const PowerLimits& limits) {
  const std::uint32_t limit = MostTasksOnNode(request);
  std::map<const Machine*, std::uint32_t> known;
  Rooms rooms;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodeSnapshot& node = nodes[i];
    if ((inside != nullptr && !(*inside)[i]) || !NodeMay(node, request)) {
      continue;
    }
    const auto [found, is_new] = known.emplace(node.machine.get(), 0);
    if (is_new) {
      const NodeCapacity capacity = CapacityOf(*node.machine);
      found->second = RoomFor(capacity.all, capacity, ScaleOf(capacity, request), limit);
    }
    if (found->second > 0) {
      rooms[limits.Of(node.name)].push_back(found->second);
    }
  }
  return rooms;
}

}  // namespace

bool HasFailedToBoot(const NodeSnapshot& node) {
  return !node.up && node.drained;
}

std::vector<std::uint32_t> BeyondLimits(const std::vector<NodeSnapshot>& nodes,
                                        const PowerLimits& limits) {
  struct Members {
    std::size_t on = 0;
    std::vector<std::uint32_t> away;
  };
  std::map<const PowerClass*, Members> classes;
  for (std::uint32_t i = 0; limits.any() && i < nodes.size(); ++i) {
    const PowerClass* const kind = limits.Of(nodes[i].name);
    if (kind == nullptr || HasFailedToBoot(nodes[i])) {
      continue;
    }
    if (nodes[i].ready == kNoTime) {
      ++classes[kind].on;
    } else {
      classes[kind].away.push_back(i);
    }
  }
  std::vector<std::uint32_t> beyond;
  for (auto& [kind, members] : classes) {
    std::vector<std::uint32_t>& away = members.away;
    std::sort(away.begin(), away.end(), [&nodes](std::uint32_t a, std::uint32_t b) {
      return std::tie(nodes[a].ready, nodes[a].weight, a) <
             std::tie(nodes[b].ready, nodes[b].weight, b);
    });
    const std::size_t more = kind->most_on - std::min<std::size_t>(members.on, kind->most_on);
    for (std::size_t i = more; i < away.size(); ++i) {
      beyond.push_back(away[i]);
    }
  }
  std::sort(beyond.begin(), beyond.end());
  return beyond;
}

std::optional<Reason> NeverOnAtOnce(const std::vector<NodeSnapshot>& nodes,
                                    const std::vector<bool>* inside, const ResourceRequest& request,
                                    const PowerLimits& limits) {
  if (!limits.any()) {
    return std::nullopt;
  }
  std::vector<std::uint32_t> together;
  std::string kept;  // the classes that keep nodes from it
  for (auto& [kind, rooms] : RoomsOf(nodes, inside, request, limits)) {
    std::sort(rooms.begin(), rooms.end(), std::greater<>());
    if (kind != nullptr && rooms.size() > kind->most_on) {
      rooms.resize(kind->most_on);
      absl::StrAppend(&kept, kept.empty() ? "" : ", ", "[power.", kind->name, "]");
    }
    together.insert(together.end(), rooms.begin(), rooms.end());
  }
  if (kept.empty()) {
    return std::nullopt;
  }
  std::sort(together.begin(), together.end(), std::greater<>());
  const auto able = static_cast<std::uint32_t>(together.size());
  std::uint64_t tasks = 0;
  for (std::size_t i = 0; i < std::min(able, request.max_nodes); ++i) {
    tasks += together[i];
  }
  const bool few = able < request.min_nodes;
  if (!few && tasks >= request.tasks) {
    return std::nullopt;
  }
  Reason reason;
  reason.kind = ReasonKind::kBadConstraints;
  reason.verdict = ReasonClass::kNever;
  reason.nodes = static_cast<std::uint32_t>(inside == nullptr
                                                ? static_cast<std::ptrdiff_t>(nodes.size())
                                                : std::count(inside->begin(), inside->end(), true));
  if (!few) {
    reason.shortages.push_back(Shortage{ShortageKind::kTasks, able, request.tasks, tasks});
  }
  reason.shortages.push_back(
      Shortage{ShortageKind::kOnAtOnce, 0, few ? request.min_nodes : 0, able, std::move(kept)});
  return reason;
}

}  // namespace muster::core

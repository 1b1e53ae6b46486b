#include "scheduler/core/handle/nodes/mig_handlers.h"

#include <algorithm>
#include <utility>

#include "scheduler/core/mig/divided_node.h"
#include "scheduler/core/mig/mig_classes.h"

namespace muster::core {
namespace {

// No job has a part of it, no other process uses it, and no check of the node's health does.
bool IsUnused(const ClusterState& state, const Node& node, const std::string& gpu) {
  return IsGpuIdle(*node.machine, node.taken, node.gpu_occupants, gpu) &&
         !state.health().Of(node.id).running;
}

// Higher than those of all orders before, also of those that are forgotten; each of a transition
// its own.
std::uint64_t NextNumber(const Node& node, Time now, const Transition& transition) {
  auto next = static_cast<std::uint64_t>(std::max<std::int64_t>(now.time_since_epoch().count(), 1));
  for (const GpuLayout& layout : node.gpu_layouts) {
    next = std::max(next, layout.number + 1);
  }
  return next + transition.effects.size();
}

void SetLayout(const Node& node, GpuLayout layout, LayoutPhase phase, Time now,
               Transition& transition) {
  layout.phase = phase;
  layout.since = now;
  transition.events.emplace_back(GpuLayoutSet{node.id, std::move(layout), false, now});
  transition.effects.emplace_back(Replan{});
}

void OrderDivision(const Node& node, GpuLayout layout, Time now, Transition& transition) {
  layout.number = NextNumber(node, now, transition);
  transition.effects.emplace_back(DivideGpu{node.id, layout.gpu});
  SetLayout(node, std::move(layout), LayoutPhase::kOrdered, now, transition);
}

void ForgetLayout(const Node& node, const GpuLayout& layout, Time now, Transition& transition) {
  transition.events.emplace_back(GpuLayoutSet{node.id, layout, true, now});
  transition.effects.emplace_back(Replan{});
}

bool WaitsStill(const ClusterState& state, JobId id) {
  const Job* const job = state.FindJob(id);
  return job != nullptr && IsWaiting(job->state) && !job->held;
}

// What time, and the jobs there, have made of it.
void AdvanceLayout(const ClusterState& state, const Node& node, const GpuLayout& layout,
                   bool managed, Time now, Transition& transition) {
  const bool asked = layout.phase == LayoutPhase::kFailed || WaitsStill(state, layout.job);
  if (layout.phase != LayoutPhase::kOrdered && !(managed && asked && IsInForce(layout, now))) {
    ForgetLayout(node, layout, now, transition);
  } else if (layout.phase == LayoutPhase::kWanted && node.connected &&
             IsUnused(state, node, layout.gpu)) {
    OrderDivision(node, layout, now, transition);
  }
}

bool MayTake(const ClusterState& state, const Node& node, const GpuLayout& wish, Time now) {
  const bool in_force = std::any_of(
      node.gpu_layouts.begin(), node.gpu_layouts.end(),
      [&](const GpuLayout& layout) { return layout.gpu == wish.gpu && IsInForce(layout, now); });
  return !in_force && node.connected && state.power().IsOn(node.id) &&
         WaitsStill(state, wish.job) && FindMig(*node.machine, wish.gpu) != nullptr &&
         CanKeepPositions(*node.machine, node.taken, wish.gpu, wish.instances.size()) &&
         (wish.phase == LayoutPhase::kWanted || IsUnused(state, node, wish.gpu));
}

}  // namespace

Transition On(const ClusterState& state, const LayOutGpus& command, Time now,
              const SchedulerConfig& config) {
  Transition transition;
  const MigClasses classes(config.mig);
  for (const auto& [id, node] : state.nodes()) {
    for (const GpuLayout& layout : node.gpu_layouts) {
      AdvanceLayout(state, node, layout, classes.Of(node.name) != nullptr, now, transition);
    }
  }
  for (const GpuWish& wish : command.wishes) {
    const Node* const node = state.FindNode(wish.node);
    if (node == nullptr || classes.Of(node->name) == nullptr ||
        !MayTake(state, *node, wish.layout, now)) {
      continue;
    }
    if (wish.layout.phase == LayoutPhase::kWanted && !IsUnused(state, *node, wish.layout.gpu)) {
      SetLayout(*node, wish.layout, LayoutPhase::kWanted, now, transition);
    } else {
      OrderDivision(*node, wish.layout, now, transition);
    }
  }
  return transition;
}

void NoticeLayouts(const Node& node, const Registration& registration, Time now,
                   Transition& transition) {
  for (const GpuLayout& layout : node.gpu_layouts) {
    const bool known = FindMig(registration.machine, layout.gpu) != nullptr;
    if (!known) {
      ForgetLayout(node, layout, now, transition);
    } else if (layout.phase == LayoutPhase::kOrdered &&
               registration.layout.number == layout.number) {
      GpuLayout done = layout;
      done.text = registration.layout.text;
      const LayoutPhase phase = done.text.empty() ? LayoutPhase::kMade : LayoutPhase::kFailed;
      SetLayout(node, std::move(done), phase, now, transition);
    } else if (layout.phase == LayoutPhase::kOrdered) {
      transition.effects.emplace_back(DivideGpu{node.id, layout.gpu});
    }
  }
}

}  // namespace muster::core

#include "scheduler/core/state/apply/node_events.h"

#include <algorithm>
#include <string>
#include <vector>

#include "scheduler/base/status.h"

namespace muster::core {

void ApplyTo(StateParts& state, const EpochBegan& event) {
  MUSTER_CHECK(event.epoch > state.epoch);
  state.epoch = event.epoch;
  state.next_job = std::max(state.next_job, event.next_job);
  state.usage.SetHalfLife(event.half_life, event.time);
  state.nodes.DisconnectAll(event.time);
}

void ApplyTo(StateParts& state, const NodeRegistered& event) {
  bool is_new = false;
  const Node& node = state.nodes.Register(event, state.jobs, &is_new);
  if (is_new) {
    state.policy.AddNode(node);
  }
  state.health.NoteMachine(event.node, *node.machine);
}

void ApplyTo(StateParts& state, const NodeLost& event) {
  Node& node = state.nodes.Must(event.node);
  node.connected = false;
  node.changed = event.time;
  node.heard = event.heard;
}

void ApplyTo(StateParts& state, const NodeDrained& event) {
  Node& node = state.nodes.Must(event.node);
  const bool kept_off = event.drained || event.narrow;
  node.drained = event.drained;
  node.narrow = event.narrow;
  node.drain_reason = kept_off ? event.reason : std::string();
  node.drain_until = kept_off ? event.until : kNoTime;
  node.drain_deadline = event.drained ? event.deadline : kNoTime;
  state.health.Drain(event);
}

void ApplyTo(StateParts& state, const NodeForgotten& event) {
  state.policy.RemoveNode(event.node);
  state.health.Forget(event.node);
  state.power.Forget(event.node);
  state.nodes.Forget(event.node);
}

void ApplyTo(StateParts& state, const NodePowered& event) {
  state.power.Take(event);
}

void ApplyTo(StateParts& state, const AttemptQuarantined& event) {
  state.nodes.Quarantine(event, state.jobs);
  if (!event.over) {
    state.UseUp(event.attempt);
  }
}

void ApplyTo(StateParts& state, const HealthCheckOrdered& event) {
  state.health.Order(event, state.nodes.Must(event.node).boot_id);
}

void ApplyTo(StateParts& state, const HealthCheckWanted& event) {
  state.health.Want(event);
}

void ApplyTo(StateParts& state, const HealthChecked& event) {
  state.health.Take(event);
}

void ApplyTo(StateParts& state, const PolicyChanged& event) {
  state.policy.Change(event, state.jobs, state.nodes.all());
}

void ApplyTo(StateParts& state, const HalfLifeSet& event) {
  state.usage.SetHalfLife(event.half_life, event.time);
}

void ApplyTo(StateParts& state, const AlertBegan& event) {
  state.alerts.Begin(event.alert);
}

void ApplyTo(StateParts& state, const AlertEnded& event) {
  state.alerts.End(event.alert);
}

void ApplyTo(StateParts& state, const GpusOccupied& event) {
  state.nodes.Must(event.node).gpu_occupants = event.occupants;
}

void ApplyTo(StateParts& state, const LinkNarrowed& event) {
  if (event.narrow) {
    state.narrow_links.Put(event.link);
  } else {
    state.narrow_links.Erase(event.link);
  }
}

void ApplyTo(StateParts& state, const GpuLayoutSet& event) {
  std::vector<GpuLayout>& layouts = state.nodes.Must(event.node).gpu_layouts;
  std::erase_if(layouts,
                [&event](const GpuLayout& layout) { return layout.gpu == event.layout.gpu; });
  if (!event.over) {
    const auto place = std::find_if(layouts.begin(), layouts.end(), [&](const GpuLayout& layout) {
      return layout.gpu > event.layout.gpu;
    });
    layouts.insert(place, event.layout);
  }
}

}  // namespace muster::core

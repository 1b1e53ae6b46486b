#include "scheduler/simulator/cluster/node_energy.h"

#include <algorithm>

namespace muster::sim {
namespace {

constexpr double kWattSecondsOfKwh = 3.6e6;

}  // namespace

void NodeEnergy::AddNode(const PowerClass& kind, std::int64_t threads, std::int64_t now) {
  Node node;
  node.busy = kind.busy_watts;
  node.idle = kind.idle_watts;
  node.off = kind.off_watts;
  node.threads = static_cast<double>(threads);
  node.since = now;
  nodes_.push_back(node);
}

void NodeEnergy::Pass(Node& node, std::int64_t now) {
  const auto time = static_cast<double>(now - node.since);
  node.since = now;
  const double on = node.idle + (node.busy - node.idle) * std::min(1.0, node.used / node.threads);
  always_on_ += on * time;
  switch (node.state) {
    case PowerState::kOn:
      taken_ += on * time;
      break;
    case PowerState::kPoweringDown:
    case PowerState::kPoweringUp:
      taken_ += node.busy * time;
      break;
    case PowerState::kOff:
    case PowerState::kFailed:
      taken_ += node.off * time;
      break;
  }
}

void NodeEnergy::SetUse(std::size_t node, std::int64_t used, std::int64_t now) {
  Pass(nodes_[node], now);
  nodes_[node].used = static_cast<double>(used);
}

void NodeEnergy::SetPower(std::size_t node, PowerState state, std::int64_t now) {
  Pass(nodes_[node], now);
  switched_off_ += state == PowerState::kPoweringDown ? 1 : 0;
  nodes_[node].state = state;
}

void NodeEnergy::NoteBootWait(std::int64_t seconds) {
  ++boot_waits_;
  waited_ += seconds;
  longest_ = std::max(longest_, seconds);
}

void NodeEnergy::Close(std::int64_t now) {
  for (Node& node : nodes_) {
    Pass(node, now);
  }
}

double NodeEnergy::taken_kwh() const {
  return taken_ / kWattSecondsOfKwh;
}

double NodeEnergy::always_on_kwh() const {
  return always_on_ / kWattSecondsOfKwh;
}

double NodeEnergy::mean_boot_wait() const {
  return boot_waits_ == 0 ? 0 : static_cast<double>(waited_) / static_cast<double>(boot_waits_);
}

std::vector<Metric> NodeEnergy::Metrics() const {
  return {
      {"energy_kwh", taken_kwh(), false, "kWh", "that the nodes took, until the last event"},
      {"energy_always_on_kwh", always_on_kwh(), false, "kWh",
       "that they would have taken for the same work at the same times, had none been off"},
      {"switched_off", static_cast<double>(switched_off_), true, "", "times that a node was"},
      {"boot_waits", static_cast<double>(boot_waits_), true, "",
       "attempts that began on a node for whose boot they had waited"},
      {"mean_boot_wait", mean_boot_wait(), false, "s",
       "of these: from when the node was wanted, or the job came, until the node had booted"},
      {"max_boot_wait", static_cast<double>(longest_), true, "s", "the longest of these"},
  };
}

}  // namespace muster::sim

#pragma once

// The power of a simulated cluster's nodes: when they are switched, and what the programs that
// switch them would do.
//
// Times are seconds of the trace, nodes are numbered in the order of AddNode. Thread promise: a
// value; one thread at a time. Invariants: without classes it does nothing; every boot succeeds,
// and takes as long as the node's class says.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "scheduler/core/handle/nodes/power_watch.h"
#include "scheduler/core/power/power_classes.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/change/effect.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/settings/scheduler_config.h"
#include "scheduler/simulator/cluster/node_energy.h"

namespace muster::sim {

class PowerReplay {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  // REQUIRES: the settings outlive it, where they are.
  explicit PowerReplay(const SchedulerConfig& config)
      : on_(!config.power.empty()), classes_(config.power) {}

  // Whether nodes can be switched at all.
  [[nodiscard]] bool on() const { return on_; }
  void AddNode(NodeId id, const std::string& name, std::int64_t threads, std::int64_t now);
  // That number of its threads runs something from now on.
  void SetUse(std::size_t node, std::int64_t used, std::int64_t now);

  // As of PowerWatch.
  void Want(std::vector<NodeId> nodes) { watch_.Want(std::move(nodes)); }
  // What is to be ordered; nothing when there is nothing to do.
  std::optional<SwitchNodes> Look(const core::ClusterState& state, const Plan* last,
                                  const SchedulerConfig& config, Time time, std::int64_t now);
  // A program was called for the node.
  void Begin(const SwitchPower& order, std::int64_t now);
  // The next node that has shut down, or booted, by now.
  struct Done {
    std::size_t node = 0;
    bool on = false;
  };
  std::optional<Done> NextDone(std::int64_t now);
  // A job that came then starts on the nodes: how long it waited for the slowest of them to boot.
  void NoteStart(std::int64_t submitted, const std::vector<std::size_t>& nodes);
  // When a switch ends; kNever: none is under way.
  [[nodiscard]] std::int64_t Next() const {
    return switches_.empty() ? kNever : std::get<0>(switches_.top());
  }
  // When time alone asks for a look; kNoTime: it does not.
  [[nodiscard]] Time wake() const { return watch_.wake(); }

  // What the nodes took up to now.
  [[nodiscard]] NodeEnergy Energy(std::int64_t now) const;

 private:
  using Switch = std::tuple<std::int64_t, std::size_t, bool>;  // when it is done, of which, and on

  struct Node {
    std::int64_t boot = 0;  // how long it takes, and to shut down
    std::int64_t suspend = 0;
    std::int64_t wanted = kNever;  // since when jobs wait for it to boot
    std::int64_t booted = kNever;  // when it did, if nothing has run on it since
  };
  void NoteWanted(const core::ClusterState& state, const Plan* last, Time time, std::int64_t now);

  const bool on_;
  const core::PowerClasses classes_;
  core::PowerWatch watch_;
  NodeEnergy energy_;
  std::vector<Node> nodes_;
  std::map<NodeId, std::size_t> numbers_;
  std::priority_queue<Switch, std::vector<Switch>, std::greater<>> switches_;
};

}  // namespace muster::sim

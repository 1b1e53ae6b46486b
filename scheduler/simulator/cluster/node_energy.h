#pragma once

// The energy that simulated nodes take, and what switching them off costs jobs.
//
// A node that is on takes its idle watts, and beyond them in proportion to the hardware threads
// that run something, up to its busy watts; one that shuts down or boots takes its busy watts.
// Thread promise: a value; one thread at a time. Invariants: time does not go back; `always_on` is
// what the same work would have taken, at the same moments, had no node been switched off.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/model/machine/power.h"
#include "scheduler/model/settings/power_class.h"
#include "scheduler/simulator/schedule/schedule_metrics.h"

namespace muster::sim {

class NodeEnergy {
 public:
  // An idle node that is on. REQUIRES: threads > 0.
  void AddNode(const PowerClass& kind, std::int64_t threads, std::int64_t now);
  // That number of its threads runs something from now on.
  void SetUse(std::size_t node, std::int64_t used, std::int64_t now);
  void SetPower(std::size_t node, PowerState state, std::int64_t now);
  // A job waited so long for a node to boot.
  void NoteBootWait(std::int64_t seconds);
  // It ends here.
  void Close(std::int64_t now);

  [[nodiscard]] double taken_kwh() const;
  [[nodiscard]] double always_on_kwh() const;
  [[nodiscard]] std::uint64_t switched_off() const { return switched_off_; }
  [[nodiscard]] std::uint64_t boot_waits() const { return boot_waits_; }
  [[nodiscard]] std::int64_t longest_boot_wait() const { return longest_; }
  [[nodiscard]] double mean_boot_wait() const;
  [[nodiscard]] std::vector<Metric> Metrics() const;

 private:
  struct Node {
    double busy = 0;  // watts
    double idle = 0;
    double off = 0;
    double threads = 1;
    double used = 0;
    PowerState state = PowerState::kOn;
    std::int64_t since = 0;
  };
  void Pass(Node& node, std::int64_t now);

  std::vector<Node> nodes_;
  double taken_ = 0;  // watt seconds
  double always_on_ = 0;
  std::uint64_t switched_off_ = 0;
  std::uint64_t boot_waits_ = 0;
  std::int64_t waited_ = 0;
  std::int64_t longest_ = 0;
};

}  // namespace muster::sim

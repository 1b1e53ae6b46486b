#pragma once

// What a cycle leaves for the next one: the nodes' timelines, and what was found for each shape of
// job.
//
// Code that plans again and again (the controller's planning thread, the simulator) owns one and
// hands it to each cycle. It holds the last snapshot, finds the nodes that differ in the next, and
// drops everything when more differs than what runs: nodes, partitions, the clock going back.
// Thread promise: none; one cycle at a time. Invariants: it never changes a plan, only how long the
// plan takes.

#include <memory>
#include <optional>

#include "scheduler/core/plan/queue/queue_priority.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

class Availability;
class StartOptions;

class PlannerMemory {
 public:
  PlannerMemory();
  ~PlannerMemory();
  PlannerMemory(PlannerMemory&&) noexcept;
  PlannerMemory& operator=(PlannerMemory&&) noexcept;

  // On to the snapshot of the next cycle.
  void MoveTo(std::shared_ptr<const Snapshot> next);
  // As if newly made.
  void Forget();

  // True when the last move kept what was known.
  [[nodiscard]] bool kept() const { return kept_; }

  // REQUIRES: a snapshot was moved to.
  [[nodiscard]] const Snapshot& snapshot() const { return *snapshot_; }
  [[nodiscard]] Availability& availability() { return *availability_; }
  [[nodiscard]] StartOptions& options() { return *options_; }
  [[nodiscard]] std::optional<Amounts>& whole() { return whole_; }
  [[nodiscard]] RunningCharges& charges() { return charges_; }

 private:
  std::shared_ptr<const Snapshot> snapshot_;
  std::unique_ptr<Availability> availability_;
  std::unique_ptr<StartOptions> options_;
  std::optional<Amounts> whole_;
  RunningCharges charges_;
  bool kept_ = false;
};

}  // namespace muster::core

#pragma once

// Which processes use the GPUs of this node outside of jobs.
//
// A process belongs to a job when it is in the group of an attempt that runs here, or descends from
// its supervisor; our own, such as health checks, descend from us. MPS servers work for their
// clients, which are listed themselves, and what only draws with little memory is a desktop: both
// leave the GPU to jobs. Invariants: (1) who was seen once, or for less than kLeast, uses nothing:
// what ends with its job, or looks at the GPU for a moment; (2) a process that /proc does not show
// us is nobody's, and uses nothing; (3) the answer changes only when a process comes or goes.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/attempts/place/attempt_key.h"
#include "agent/attempts/running_attempt.h"
#include "scheduler/model/machine/gpu_occupant.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/value/units.h"
#include "scheduler/runtime/clock.h"
#include "topology/gpu/gpu_meter.h"

namespace muster::agent {

class GpuUsers {
 public:
  // For how long a process must have been seen.
  static constexpr std::chrono::seconds kLeast{5};
  // Less memory than that of a GPU has a desktop.
  static constexpr Bytes kDesktop{std::uint64_t{256} << 20U};

  // `meter`: null: nothing is known. What is referred to outlives it.
  GpuUsers(const Machine& machine, topology::GpuMeter* meter, std::string proc)
      : machine_(machine), meter_(meter), proc_(std::move(proc)) {}

  void Look(const std::map<AttemptKey, RunningAttempt>& running, SteadyTime now);

  // Nothing as long as it is not known.
  [[nodiscard]] const std::optional<GpuOccupants>& occupants() const { return occupants_; }

 private:
  struct Seen {
    SteadyTime since;
    GpuOccupant occupant;
  };
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // GPU and pid
  // The foreign processes on the GPUs of the machine.
  std::map<Key, Bytes> Foreign(const std::map<AttemptKey, RunningAttempt>& running) const;
  [[nodiscard]] std::optional<GpuOccupant> Describe(const Key& key, Bytes memory) const;

  const Machine& machine_;
  topology::GpuMeter* const meter_;
  const std::string proc_;
  std::map<Key, Seen> seen_;
  SteadyTime first_ = SteadyTime::min();  // when it looked first
  std::optional<GpuOccupants> occupants_;
};

}  // namespace muster::agent

#pragma once

// What attempts take of this node's GPUs, sampled while they run.
//
// Busy time and energy are what a GPU did between two samples, of which a job that has a part of it
// is counted that part. Sums are kept in the attempt's directory, so that the next agent goes on
// from them, and the supervisor puts them into the attempt's end. Thread promise: the loop's
// thread. Invariant: a sum never goes down.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "agent/attempt_key.h"
#include "agent/state_directory.h"
#include "agent/supervisor/sampled_usage.h"
#include "scheduler/model/allocation.h"
#include "scheduler/model/machine.h"
#include "scheduler/runtime/clock.h"
#include "topology/gpu_meter.h"

namespace muster {

class UsageSampler {
 public:
  // `machine` says which GPU is which; both references outlive the sampler.
  UsageSampler(const Machine& machine, StateDirectory& state, GpuMeter& meter)
      : machine_(machine), state_(state), meter_(meter) {}

  // Takes a sample for the attempts that run here, with their parts of this node. The GPUs that
  // have fallen off the bus since the last, by UUID.
  std::vector<std::string> Sample(const std::map<AttemptKey, const NodeAllocation*>& running,
                                  SteadyTime now);

 private:
  // What each GPU did since the last sample.
  struct Change {
    double busy_ms = 0;
    Bytes memory;
    double energy_mj = 0;
  };
  std::vector<Change> Changes(SteadyTime now, std::vector<std::string>& lost);
  void Add(const AttemptKey& key, const NodeAllocation& part, const std::vector<Change>& changes);

  const Machine& machine_;
  StateDirectory& state_;
  GpuMeter& meter_;
  SteadyTime last_ = SteadyTime::min();
  std::map<std::string, GpuReading> before_;
  std::map<AttemptKey, SampledUsage> sums_;
};

}  // namespace muster

#pragma once

// A scheduling cycle that is about to begin, for the tests of its parts.
//
// Thread promise: one thread. Invariants: the world is as it was when this was made.

#include <algorithm>
#include <memory>

#include "scheduler/core/plan/availability/availability.h"
#include "scheduler/core/plan/search/start_options.h"
#include "scheduler/core/plan/start/cycle_state.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core::testing {

// Tasks that fill `nodes` nodes of four cores for a minute.
inline JobSpec WholeNodes(const World& world, std::uint32_t nodes) {
  JobSpec spec = world.Spec(Tasks(4 * nodes));
  spec.time_limit = std::chrono::minutes(1);
  return spec;
}

class OneCycle {
 public:
  // `last`: the plan before it, if there was one.
  explicit OneCycle(const World& world, const Plan* last = nullptr)
      : snapshot_(BuildSnapshot(world.state, world.now, last)),
        options_(*snapshot_),
        availability_(*snapshot_),
        state(*snapshot_, world.config, options_, availability_) {}

  const Snapshot& snapshot() const { return *snapshot_; }
  // REQUIRES: the job waits, by itself.
  const WaitingJob& Waiting(JobId job) const {
    return *std::find_if(snapshot_->waiting.begin(), snapshot_->waiting.end(),
                         [job](const WaitingJob& waiting) { return waiting.id == job; });
  }
  const StartOption& OptionOf(JobId job) { return *OptionsOf(job).front(); }
  OptionList OptionsOf(JobId job) { return muster::core::OptionsOf(state, Waiting(job), {}); }
  Plan Finish() { return state.plan.Finish(kNoTime); }

 private:
  std::shared_ptr<const Snapshot> snapshot_;
  StartOptions options_;
  Availability availability_;

 public:
  CycleState state;
};

}  // namespace muster::core::testing

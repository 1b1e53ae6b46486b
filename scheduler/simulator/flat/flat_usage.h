#pragma once

// Who has had how much of a machine of identical processors: the fairshare baseline's memory.
//
// Usage halves with each week (Slurm's PriorityDecayHalfLife in its manual's example), exactly
// (core/share/decay.h). Thread promise: a value; one thread at a time. Invariants: (1) a run that
// is charged in pieces counts as the run charged at once; (2) equal calls give equal usage on every
// machine.

#include <cstdint>
#include <map>

#include "scheduler/model/policy/decayed_usage.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/simulator/flat/timeline.h"

namespace muster::sim {

class FlatUsage {
 public:
  static constexpr auto Fields(auto list) { return list(Field{"of", &FlatUsage::of_}); }

  // The user held that many processors in [from, until).
  void Charge(std::int64_t user, std::int64_t processors, Tick from, Tick until);
  // What is left of it at `now`, in whole processor-seconds, rounded down.
  [[nodiscard]] std::uint64_t At(std::int64_t user, Tick now) const;

 private:
  std::map<std::int64_t, DecayedUsage> of_;
};

}  // namespace muster::sim

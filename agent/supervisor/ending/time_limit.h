#pragma once

// How much of its time limit an attempt has left, and when its programs are warned of the end.
//
// The limit counts from when the resources were given and stands still while the attempt is
// suspended; it may be changed at any time. Thread promise: none; one thread. Invariants: what was
// used never decreases, and no change of the limit changes it.

#include <optional>

#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/value/time.h"
#include "scheduler/runtime/clock.h"

namespace muster::agent {

class TimeLimit {
 public:
  // `limit` 0: none. So much was used by `now`, and the time runs.
  void Begin(Duration limit, Duration used, SteadyTime now);
  // From now on; Duration::max(): none.
  void Change(Duration limit);
  // It stands still, and runs on.
  void Hold(SteadyTime now);
  void RunOn(SteadyTime now);

  // 0: none.
  [[nodiscard]] Duration limit() const { return limit_; }
  [[nodiscard]] Duration Used(SteadyTime now) const;
  // Not less than nothing; no value without a limit.
  [[nodiscard]] std::optional<Duration> Left(SteadyTime now) const;

 private:
  Duration limit_{0};
  Duration used_{0};                 // by `since_`
  std::optional<SteadyTime> since_;  // no value while it stands still
};

// So long before the end the warning is sent. `slow` is what checkpoints were measured to take at
// the most (0: no measure), `whole` the attempt's time from its start to its end.
Duration WarningLead(const WarningSignal& warning, Duration slow, Duration whole);

}  // namespace muster::agent

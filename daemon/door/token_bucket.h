#pragma once

// A token bucket, told by what was spent of it: tokens come back with time, and whoever owns it
// knows its size.
//
// Thread promise: as a value. Invariants: never less than nothing is spent; time is the caller's,
// and one that goes backwards brings nothing back.

#include <algorithm>
#include <chrono>

#include "scheduler/runtime/clock.h"

namespace muster::daemon {

class TokenBucket {
 public:
  // Brings back `rate` tokens for each second since the last time.
  void Refill(double rate, SteadyTime now) {
    if (now > seen_ && seen_ != SteadyTime::min()) {
      GiveBack(rate * std::chrono::duration<double>(now - seen_).count());
    }
    seen_ = std::max(seen_, now);
  }
  void Spend(double tokens) { spent_ += tokens; }
  void GiveBack(double tokens) { spent_ = std::max(0.0, spent_ - tokens); }
  [[nodiscard]] double spent() const { return spent_; }

 private:
  double spent_ = 0;
  SteadyTime seen_ = SteadyTime::min();  // no time yet
};

}  // namespace muster::daemon

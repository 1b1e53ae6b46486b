#pragma once

// Whether a replica's program is ready, when it is asked next, and when it is started again.
//
// Pure: the caller starts, asks and ends the program and says what came of it. Invariants: a
// program is never ready before it has answered well; failures before its first good answer count
// only once the grace is over; the pauses before a start double up to a minute, and are short again
// once it was ready for a minute.

#include <chrono>

#include "scheduler/model/value/time.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {

struct HealthTerms {
  Duration interval = std::chrono::seconds(10);
  Duration start_grace = std::chrono::minutes(1);
  int failures = 3;  // in a row
};

class ReplicaHealth {
 public:
  explicit ReplicaHealth(const HealthTerms& terms) : terms_(terms) {}

  void Started(SteadyTime now);
  // What came of a probe. True: the program has failed, and is to be ended.
  bool Answered(bool well, SteadyTime now);
  // The program has ended, by itself or not.
  void Ended(SteadyTime now);

  [[nodiscard]] bool ready() const { return ready_; }
  [[nodiscard]] bool runs() const { return runs_; }
  [[nodiscard]] int failures() const { return failures_; }
  // When to start it, while it does not run; when to ask it, while it does.
  [[nodiscard]] SteadyTime next() const { return next_; }

 private:
  const HealthTerms terms_;
  bool runs_ = false;
  bool ready_ = false;
  int failures_ = 0;
  Duration pause_{0};
  SteadyTime started_;
  SteadyTime ready_since_;
  SteadyTime next_;
};

}  // namespace muster::cli

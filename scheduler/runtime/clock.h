#pragma once

// One interface to the two clocks that a long-running process of ours reads.
//
// Now() is the wall clock, for what people and records see. SteadyNow() never goes backwards and
// counts suspended time (CLOCK_BOOTTIME), for every duration and deadline. Code that has a Clock&
// calls no other clock. Thread promise: both clocks are safe from any thread.

#include <chrono>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "scheduler/runtime/mutex.h"

namespace muster {

// Wall-clock time; the same type as the model's, which this floor may not include.
using Time = std::chrono::sys_time<std::chrono::milliseconds>;

// The name of the clock of SteadyTime. It has no now(): only a Clock can be asked.
struct BootClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  // NOLINTNEXTLINE(readability-identifier-naming): the standard's name.
  static constexpr bool is_steady = true;
};

// An instant since boot, in nanoseconds; comparable only within one boot of one machine.
using SteadyTime = BootClock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  // The wall clock, in milliseconds since 1970 UTC. May jump when an operator sets it.
  virtual Time Now() const = 0;
  // Time since boot. Never decreases.
  virtual SteadyTime SteadyNow() const = 0;
};

// The machine's own clocks: CLOCK_REALTIME and CLOCK_BOOTTIME.
class SystemClock final : public Clock {
 public:
  Time Now() const override;
  SteadyTime SteadyNow() const override;
};

// A clock that moves only when a test moves it.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Time start) : now_(start) {}
  Time Now() const override;
  SteadyTime SteadyNow() const override;
  // Moves both clocks forward. A negative `step` ends the process.
  void Advance(std::chrono::milliseconds step);
  // Sets the wall clock alone, as an operator would; SteadyNow() does not notice.
  void SetWall(Time now);

 private:
  mutable Mutex mutex_;
  Time now_ ABSL_GUARDED_BY(mutex_);
  SteadyTime steady_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace muster

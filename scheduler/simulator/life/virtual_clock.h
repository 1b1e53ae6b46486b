#pragma once

// The simulation's time, and what is due when: the only thing that makes anything happen there.
//
// Time jumps from one action to the next. Thread promise: none; one thread. Invariants: (1) time
// never goes back; (2) actions of the same moment run in the order in which they were asked for, so
// that a seed makes one history.

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "scheduler/model/value/time.h"

namespace muster::sim {

class VirtualClock {
 public:
  using Action = std::function<void()>;

  explicit VirtualClock(Time start) : now_(start) {}
  VirtualClock(const VirtualClock&) = delete;
  VirtualClock& operator=(const VirtualClock&) = delete;

  [[nodiscard]] Time now() const { return now_; }

  // Runs `action` in `delay` from now; at once, but not inside this call, when it is not positive.
  void After(Duration delay, Action action) {
    const Time due = delay > Duration(0) ? now_ + delay : now_;
    agenda_.emplace(std::pair(due, ++asked_), std::move(action));
  }

  // Goes to the next action and runs it; false when nothing is due any more.
  bool RunNext() {
    if (agenda_.empty()) {
      return false;
    }
    auto next = agenda_.extract(agenda_.begin());
    now_ = next.key().first;
    next.mapped()();
    return true;
  }

 private:
  Time now_;
  std::uint64_t asked_ = 0;
  std::map<std::pair<Time, std::uint64_t>, Action> agenda_;
};

}  // namespace muster::sim

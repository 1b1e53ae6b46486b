#pragma once

// Ends an attempt in time: at its time limit, or at its deadline where that comes first.
//
// The limit stands still while the attempt is suspended; the deadline does not. Thread promise: the
// loop's thread. Invariants: (1) `on_over` comes only when nothing is left of one of the two, as
// they stand then; (2) on_end is called at the beginning and after each change, on_held while it is
// suspended.

#include <functional>
#include <optional>
#include <string>

#include "agent/supervisor/ending/time_limit.h"
#include "scheduler/model/value/time.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/event_loop.h"

namespace muster::agent {

class LimitKeeper {
 public:
  struct Handlers {
    // The attempt ends in so long at the latest; no value: neither limit nor deadline.
    std::function<void(std::optional<Duration> left)> on_end;
    // When it ends is not known: it is suspended.
    std::function<void()> on_held;
    std::function<void(const std::string& why)> on_over;
  };

  // REQUIRES: the references outlive it.
  LimitKeeper(EventLoop& loop, const Clock& clock, Handlers handlers);
  LimitKeeper(const LimitKeeper&) = delete;
  LimitKeeper& operator=(const LimitKeeper&) = delete;
  ~LimitKeeper();

  // Counted from `started`, when the resources were given, by the wall clock once and by a steady
  // timer from then on. `limit` 0: none; `deadline` kNoTime: none.
  void Begin(Duration limit, Time started, Time deadline);
  // Duration::max(): none from now on. False: that is what it was.
  bool Change(Duration limit);
  void Hold();
  void RunOn();

  // 0: none.
  [[nodiscard]] Duration limit() const { return limit_.limit(); }
  [[nodiscard]] Duration Used() const { return limit_.Used(clock_.SteadyNow()); }

 private:
  [[nodiscard]] std::optional<Duration> Left() const;
  void StopTimer();
  void Keep();

  EventLoop& loop_;
  const Clock& clock_;
  const Handlers handlers_;
  TimeLimit limit_;
  Time deadline_ = kNoTime;
  bool held_ = false;
  std::optional<EventLoop::TimerId> timer_;
};

}  // namespace muster::agent

#pragma once

// The signal that warns an attempt's programs before its end (`--signal`).
//
// It is sent as long before the end as the job says, or as long as its checkpoints take. Thread
// promise: the loop's thread. Invariants: (1) an attempt is warned once at most, and not any more
// once it ends; (2) nobody is warned before there is somebody who could be.

#include <functional>
#include <optional>

#include "agent/supervisor/ending/end_state.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/value/time.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"

namespace muster::agent {

class EndWarning {
 public:
  struct Handlers {
    std::function<bool()> begun;  // the attempt's work has begun
    std::function<bool()> send;   // the signal; false: there was nobody here to send it to
  };
  // When the programs were warned, by both clocks.
  struct Sent {
    SteadyTime steady;
    Time wall;
  };

  // REQUIRES: the references outlive it.
  EndWarning(EventLoop& loop, const Clock& clock, const Logger& log, const WarningSignal& warning,
             const EndState& end, Handlers handlers);
  EndWarning(const EndWarning&) = delete;
  EndWarning& operator=(const EndWarning&) = delete;
  ~EndWarning();

  // The attempt has run so long and ends in `left`; checkpoints take `slow` at the most (0: not
  // known). Replaces what was planned.
  void Plan(Duration used, Duration left, Duration slow);
  // It is not known when it ends.
  void Forget();
  // Something was measured again.
  void TakeSlow(Duration slow);

  [[nodiscard]] const std::optional<Sent>& sent() const { return sent_; }

 private:
  [[nodiscard]] Duration Left() const;
  void Wait(Duration slow);
  void Warn();

  EventLoop& loop_;
  const Clock& clock_;
  const Logger& log_;
  const WarningSignal& warning_;
  const EndState& end_;
  const Handlers handlers_;
  Duration whole_{0};         // from the attempt's start to its end
  SteadyTime ends_;           // then
  Duration planned_slow_{0};  // by which the warning is planned
  std::optional<EventLoop::TimerId> timer_;
  std::optional<Sent> sent_;
};

}  // namespace muster::agent

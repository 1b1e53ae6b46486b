#pragma once

// The suspension of an attempt: takes the orders to suspend and to resume it, and reports when each
// is done.
//
// Orders are numbered; one that comes late or twice changes nothing. Thread promise: the loop's
// thread. Invariants: (1) a suspension is reported once nothing of the attempt can run; (2) the end
// of the attempt undoes it without a report.

#include <cstdint>
#include <functional>

#include "agent/supervisor/attempt/reporter.h"
#include "agent/supervisor/limits/cgroup.h"
#include "agent/supervisor/limits/freezer.h"
#include "scheduler/model/job/order.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"

namespace muster::agent {

class Suspension {
 public:
  struct Handlers {
    std::function<void()> on_suspended;  // ordered, from now on
    std::function<void()> on_resumed;
  };

  // REQUIRES: the references outlive it.
  Suspension(EventLoop& loop, const Clock& clock, const Logger& log, Reporter& reporter,
             Handlers handlers);
  Suspension(const Suspension&) = delete;
  Suspension& operator=(const Suspension&) = delete;

  // The group that has all processes of the attempt; null, as at first: there is none.
  void Hold(const AttemptCgroup* cgroup) { cgroup_ = cgroup; }
  // False: a newer order was taken before.
  bool Take(const SuspendOrder& order);
  // It ends: what is frozen runs again.
  void Undo();

  // Ordered to be suspended, and since then neither to run nor to end.
  [[nodiscard]] bool ordered() const { return ordered_; }

 private:
  void Freeze();
  void Report(bool resumed);

  const Clock& clock_;
  const Logger& log_;
  Reporter& reporter_;
  const Handlers handlers_;
  Freezer freezer_;
  const AttemptCgroup* cgroup_ = nullptr;
  std::uint32_t newest_ = 0;
  bool ordered_ = false;
};

}  // namespace muster::agent

#pragma once

// Ends what runs of an attempt: SIGTERM, a grace, then SIGKILL again and again until nothing is
// left.
//
// By the attempt's control group where it has one, else process by process. Thread promise: the
// loop's thread. Invariants: (1) nothing is signalled once the job is over (EndState), so that the
// site's epilog runs undisturbed; (2) what is suspended runs again once SIGTERM waits for it.

#include <functional>

#include "agent/supervisor/ending/end_state.h"
#include "agent/supervisor/limits/cgroup.h"
#include "agent/supervisor/limits/suspension.h"
#include "scheduler/model/value/time.h"
#include "scheduler/runtime/event_loop.h"

namespace muster::agent {

class Termination {
 public:
  struct Handlers {
    std::function<bool()> copying;  // a checkpoint is on its way to the shared directory
    std::function<void()> on_kill;  // nobody is waited for any more
  };

  // REQUIRES: the references outlive it.
  Termination(EventLoop& loop, const EndState& end, Suspension& suspension, Handlers handlers);
  Termination(const Termination&) = delete;
  Termination& operator=(const Termination&) = delete;

  // The group that has all processes of the attempt; null, as at first: there is none.
  void Hold(const AttemptCgroup* cgroup) { cgroup_ = cgroup; }
  // Ends what a main step left that has ended by itself, after a moment in which it may do so
  // itself, and once no checkpoint is on its way any more or that takes too long.
  void EndOrphans(Duration grace);
  // SIGTERM to everything, SIGKILL after `grace`.
  void Terminate(Duration grace);
  // SIGKILL after `grace`.
  void KillAfter(Duration grace);
  void Kill();

 private:
  void TerminateOrphans(Duration grace, int looks_left);

  const EndState& end_;
  Suspension& suspension_;
  const Handlers handlers_;
  const AttemptCgroup* cgroup_ = nullptr;
  Duration interval_{10};  // until the next SIGKILL
  OwnTimers timers_;
};

}  // namespace muster::agent

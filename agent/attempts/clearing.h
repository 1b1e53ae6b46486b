#pragma once

// Kills what dead supervisors left of their attempts, round after round, until nothing is left.
//
// Thread promise: the owner of the loop. Invariant: `cleared` is called once for each attempt, when
// no process of it is left, and never after this object went.

#include <functional>
#include <memory>

#include "agent/attempts/attempt_key.h"
#include "agent/attempts/children.h"
#include "agent/attempts/orphans.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"

namespace muster::agent {

class Clearing {
 public:
  using Cleared = std::function<void(const AttemptKey&)>;
  // Everything that is referred to outlives it.
  Clearing(EventLoop& loop, const Logger& log, Children& children, Cleared cleared);

  // Begins with the first round at once.
  void Begin(const AttemptKey& key, const DeadAttempt& dead) { Round(key, dead, 0); }

 private:
  void Round(const AttemptKey& key, const DeadAttempt& dead, int round);

  EventLoop& loop_;
  const Logger& log_;
  Children& children_;
  const Cleared cleared_;
  std::shared_ptr<const bool> alive_;  // goes with this object: its timers then do nothing
};

// What the attempt's directory says of what its dead supervisor left.
DeadAttempt DeadAttemptIn(const AttemptDirectory& directory, JobId job, std::string cgroup);

}  // namespace muster::agent

#pragma once

// The lease of an elastic job's part on this node: while the controller hears the node, it is
// renewed; when it is over, the part ends at once, whatever else goes on.
//
// The controller starts the job again without a node that it has not heard of for longer than the
// lease (model/settings/elastic_policy.h), so nothing of the old attempt may be left by then. Time
// since boot counts, in which a machine that slept has slept. Thread promise: the loop's thread.
// Invariants: (1) the end comes once; (2) a renewal never shortens the lease.

#include <functional>
#include <optional>

#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/event_loop.h"

namespace muster::agent {

class Lease {
 public:
  // REQUIRES: the references outlive it.
  Lease(EventLoop& loop, const Clock& clock, std::function<void()> over);
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();

  // From now on there is a lease, up to then.
  void Begin(SteadyTime until);
  // Without one this does nothing.
  void Renew(SteadyTime until);

 private:
  void Look();

  EventLoop& loop_;
  const Clock& clock_;
  const std::function<void()> over_;
  SteadyTime until_ = SteadyTime::min();
  std::optional<EventLoop::TimerId> timer_;
};

}  // namespace muster::agent

#pragma once

// Which nodes reservations keep from a job, and when: the windows that a start has to miss.
//
// Made once in a cycle for all jobs that use the same reservation, or none. Thread promise:
// immutable once made. Invariants: OpenFrom() never answers a start at which the job, running to
// its limit, would meet an occurrence of another reservation on the node, or outlast its own.

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/policy/reservation.h"

namespace muster::core {

class ReservedNodes {
 public:
  // For jobs that name the reservation `own`, "" for none. REQUIRES: snapshot.policy is not null
  // and outlives it.
  ReservedNodes(const Snapshot& snapshot, const std::string& own);

  // True when no node is ever kept from such a job.
  [[nodiscard]] bool empty() const { return !any_; }
  // The first time from `start` on at which nothing reserved keeps the node (by position) from a
  // job of that duration, zero for no limit; kFarFuture for never.
  [[nodiscard]] Time OpenFrom(std::uint32_t node, Time start, Duration duration) const;
  // The reservation that keeps the node from a job that starts then; null when none does.
  [[nodiscard]] const Reservation* InTheWay(std::uint32_t node, Time start,
                                            Duration duration) const;
  // Appends the times at which a window on the node ends that holds at `now` or comes next.
  void AppendEnds(std::uint32_t node, Time now, std::vector<Time>& times) const;

 private:
  std::vector<std::vector<const Reservation*>> of_others_;  // by node
  Time until_;  // by when a job must be done: the end of its own window
  bool any_ = false;
};

// When the next window of any reservation begins or ends; kNoTime when none does.
Time NextReservationChange(const Snapshot& snapshot);

}  // namespace muster::core

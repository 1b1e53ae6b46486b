#pragma once

// Heterogeneous jobs in a scheduling cycle: their components all start now, or each gets the reason
// why not and a place is kept for all together.
//
// Thread promise: none; owned by one cycle. Invariants: a plan starts all components of a group, or
// none.

#include <optional>
#include <vector>

#include "scheduler/core/plan/cycle/backfill_reservations.h"
#include "scheduler/core/plan/cycle/kept_places.h"
#include "scheduler/core/plan/cycle/wait_reasons.h"
#include "scheduler/core/plan/search/group_search.h"
#include "scheduler/core/plan/start/cycle_state.h"
#include "scheduler/core/plan/start/job_starter.h"

namespace muster::core {

class HetJobStarter {
 public:
  // REQUIRES: all outlive it.
  HetJobStarter(CycleState& cycle, WaitReasons& reasons, JobStarter& starter,
                BackfillReservations& reservations, KeptPlaces& places);

  // Starts the leader's group, or notes why not.
  void LookAt(const WaitingJob& leader);

 private:
  using Group = std::vector<const WaitingJob*>;

  // True when some component may not start, whatever is free: then all are left waiting.
  bool LeaveBlocked(const Group& group);
  // True when all are started. `limit` says which limit what they would get breaks.
  bool TryStart(const Group& group, const std::vector<GroupMember>& members,
                std::optional<Reason>& limit);
  // False when what the group would hold breaks a limit.
  bool Start(const Group& group, std::vector<MemberPlace>& places, std::optional<Reason>& limit);
  // The group waits for resources, or for an earlier job that does, or it never can start.
  void LeaveWaiting(const Group& group, const std::vector<GroupMember>& members);
  // Later jobs of the group's partitions wait for it.
  void BlockLater(const WaitingJob& leader, const std::vector<GroupMember>& members);
  // Keeps the group its earliest common opening, or what it is promised. When it starts, or
  // kNoTime: unknown.
  Time Keep(const Group& group, const std::vector<GroupMember>& members);

  CycleState& cycle_;
  WaitReasons& reasons_;
  JobStarter& starter_;
  BackfillReservations& reservations_;
  KeptPlaces& places_;
  GroupSearch search_;
};

}  // namespace muster::core

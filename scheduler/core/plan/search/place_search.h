#pragma once

// Where in time and on which nodes a place can be kept for a waiting job, or for all components of
// a heterogeneous one.
//
// Thread promise: owned by one cycle. Invariants: (1) a search leaves the availability as it found
// it; (2) no place begins at kHorizon or later, where it would hang on a job without a limit.

#include <optional>
#include <vector>

#include "scheduler/core/plan/availability/availability.h"
#include "scheduler/core/plan/search/group_search.h"
#include "scheduler/core/plan/search/job_place.h"
#include "scheduler/core/plan/search/planned_nodes.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

class PlaceSearch {
 public:
  // `nodes` are those of the snapshot, with what the cycle has started on them. REQUIRES: all
  // outlive it.
  PlaceSearch(const Snapshot& snapshot, Availability& availability, const PlannedNodes& nodes)
      : snapshot_(snapshot),
        availability_(availability),
        groups_(snapshot, availability, nodes,
                {[now = snapshot.now](const Need& need) { return NeedInsteadOfPlace(need, now); },
                 PlaceNeed}) {}

  // The job itself, or the waiting components of the leader's group, in order.
  [[nodiscard]] std::vector<const WaitingJob*> ComponentsOf(const WaitingJob& job);
  // On the nodes that the last plan kept for it, from then on.
  [[nodiscard]] std::optional<JobPlace> Again(const std::vector<GroupMember>& members, Time start);
  // The earliest; kNoTime, or one before that time.
  [[nodiscard]] std::optional<JobPlace> Earliest(const WaitingJob& job,
                                                 const std::vector<GroupMember>& members,
                                                 Time before);
  // One that begins then.
  [[nodiscard]] std::optional<JobPlace> At(const std::vector<GroupMember>& members, Time start);
  // A start of all members now instead of in their place, in their order, with their ranks' places.
  [[nodiscard]] std::optional<std::vector<MemberPlace>> FindNow(
      const std::vector<GroupMember>& members) {
    return groups_.FindNow(members);
  }

 private:
  [[nodiscard]] std::optional<JobPlace> EarliestOfOne(const WaitingJob& job,
                                                      const GroupMember& member, Time before);

  const Snapshot& snapshot_;
  Availability& availability_;
  GroupSearch groups_;
};

}  // namespace muster::core

#pragma once

// The places that are kept in a scheduling cycle: who has one, each taken out of what is free.
//
// Thread promise: none; owned by one cycle. Invariants: (1) a heterogeneous job's place is under
// its leader's id; (2) after Undo all is as it was at Try.

#include <map>
#include <optional>
#include <vector>

#include "scheduler/core/plan/queue/backlog.h"
#include "scheduler/core/plan/search/job_place.h"
#include "scheduler/core/plan/search/place_search.h"
#include "scheduler/core/plan/start/cycle_state.h"
#include "scheduler/core/plan/start/job_starter.h"
#include "scheduler/core/prompt/prompt_order.h"

namespace muster::core {

class PlaceBook {
 public:
  // REQUIRES: both outlive it.
  PlaceBook(CycleState& cycle, JobStarter& starter);

  [[nodiscard]] PlaceSearch& search() { return search_; }
  // The job, or its components, with the ways in which each may start.
  [[nodiscard]] std::vector<GroupMember> MembersOf(const WaitingJob& job);
  // Something else than resources keeps it, or a component, waiting.
  [[nodiscard]] bool IsBlocked(const WaitingJob& job);
  // It could start now but for a limit, in the way in which it has its place.
  [[nodiscard]] bool LimitStops(const WaitingJob& job, const JobPlace& place);

  // The earliest place, with the promise: what the job has, or what first come, first served would
  // give it, and the slack; no earlier than the place. Nothing where there is none, or a limit
  // alone keeps the job from starting: it would keep nodes from others for as long as the limit.
  [[nodiscard]] std::optional<JobPlace> New(const WaitingJob& job,
                                            const std::vector<GroupMember>& members,
                                            const Backlog& backlog);
  // The plan says the promise.
  void Promise(const JobPlace& place);

  [[nodiscard]] std::map<JobId, JobPlace>& all() { return places_; }
  // Null where it has none.
  [[nodiscard]] JobPlace* Find(JobId job);
  // REQUIRES: it is free.
  void Put(JobId job, JobPlace place);

  // What is put from now on may be undone. REQUIRES: no trial is on.
  void Try() { trial_.emplace(); }
  void EndTrial() { trial_.reset(); }
  // `asked_more` as Availability::Restore's. REQUIRES: nothing but Put took anything since Try.
  void Undo(bool asked_more);

 private:
  struct Trial {
    NodesBefore nodes;
    std::vector<JobId> put;
  };

  CycleState& cycle_;
  JobStarter& starter_;
  PlaceSearch search_;
  const PromptRules rules_;
  std::map<JobId, JobPlace> places_;
  std::optional<Trial> trial_;
};

}  // namespace muster::core

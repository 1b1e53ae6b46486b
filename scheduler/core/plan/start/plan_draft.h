#pragma once

// The plan that a scheduling cycle is writing: what starts, what is kept, and why all others wait.
//
// Elements of an array that wait for the same stand in one entry, however they came. Thread
// promise: none; owned by one cycle. Invariants: (1) nothing that was added is taken back; (2) the
// hash is over everything that the plan decides, and plans without resumed or resized jobs or
// promises hash as they did before there were any.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "scheduler/core/plan/availability/need.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/plan/reason.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster::core {

class PlanDraft {
 public:
  // REQUIRES: the snapshot outlives it.
  explicit PlanDraft(const Snapshot& snapshot);

  // The priority of the jobs that are left waiting from here on.
  void SetPriority(std::uint32_t priority) { priority_ = priority; }
  // The priority of those of the entry that were left, reckoned only now.
  void SetPriorityOf(const WaitingJob& entry, std::uint32_t priority);
  [[nodiscard]] bool IsLeft(const WaitingJob& entry) const;
  // The job waits: for `reason`, and each of `also` alone would keep it waiting too.
  void Leave(const WaitingJob& job, Reason reason, std::vector<Reason> also = {});
  // As many elements more wait as the one before them does. REQUIRES: an element was left last.
  void LeaveAlike(std::uint32_t count) { plan_.waiting.back().count += count; }
  // A component of a heterogeneous job waits: an entry of its own.
  void LeaveComponent(LeftWaiting left);
  // A suspended job stays suspended.
  void LeaveSuspended(JobId job, Reason reason);

  void Start(PlannedStart start) { plan_.starts.push_back(std::move(start)); }
  void Resume(PlannedResume resume) { plan_.resumes.push_back(resume); }
  void Drop(PlannedDrop drop) { plan_.drops.push_back(std::move(drop)); }
  void Preempt(PlannedPreemption preemption) { plan_.preemptions.push_back(std::move(preemption)); }
  void Resize(PlannedResize resize) { plan_.resizes.push_back(resize); }
  void Reserve(JobId job, const Opening& opening);
  void Promise(PlannedPromise promise) { plan_.promises.push_back(promise); }

  [[nodiscard]] const std::vector<PlannedStart>& starts() const { return plan_.starts; }
  [[nodiscard]] bool any_waiting() const { return !plan_.waiting.empty(); }
  // Whether the elastic job is to give up nodes, now or later.
  [[nodiscard]] bool Shrinks(JobId job) const;
  // How often it has changed what later jobs find: jobs that started, left or made way.
  [[nodiscard]] std::size_t changes() const {
    return plan_.starts.size() + plan_.preemptions.size() + plan_.drops.size();
  }

  // The plan, and when time alone would change it. The draft is of no more use.
  Plan Finish(Time wake);

 private:
  // True when the element waits as those of the entry do that it comes right after.
  static bool Continues(LeftWaiting left, const LeftWaiting& before);
  void NoteBoot(JobId job, Reason& reason) const;

  const Snapshot& snapshot_;
  std::uint32_t priority_ = 0;
  JobId last_left_;                   // the submission of the entry that Leave wrote last
  std::vector<std::string> booting_;  // of the nodes of the last place, those that are not on
  Plan plan_;
};

}  // namespace muster::core

#pragma once

// The clients that watch jobs: who watches which, and what they are told.
//
// Nothing is told at once: each notice is added to `after`, which is called when what it says is
// durable. Thread promise: one owner, the controller's loop; notices are called on another thread.
// Invariants: a watcher whose handle was dropped is told nothing; one that was told that it was
// lost is told nothing else.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "daemon/controller/cycle/waiting_reasons.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/view/view.h"

namespace muster::daemon {

struct JobWatcher {
  // Called after each durable change of the job; `allocation` is null while it has none.
  std::function<void(const JobView& view, const Allocation* allocation)> tell;
  // This controller may know less than another from now on. Nothing is told afterwards.
  std::function<void(const absl::Status& why)> lose;
};

class JobWatchers {
 public:
  using After = std::vector<std::function<void(const absl::Status& status)>>;

  void Add(JobId job, const std::weak_ptr<const JobWatcher>& watcher) {
    watchers_.emplace(job, watcher);
  }
  [[nodiscard]] bool empty() const { return watchers_.empty(); }
  [[nodiscard]] bool IsWatched(JobId job) const { return watchers_.contains(job); }

  void Tell(JobId job, const JobView& view, const Allocation* allocation, After& after) const;
  // Tells those whose job waits for something else now.
  void TellOfReasons(const WaitingReasons& before, const WaitingReasons& now,
                     const core::ClusterState& state, After& after) const;
  // The job is not live any more.
  void Forget(JobId job) { watchers_.erase(job); }
  // Forgets those whose handle was dropped.
  void Sweep();
  // Tells everyone at once that they are lost, and forgets them.
  void LoseAll(const absl::Status& why);

 private:
  std::multimap<JobId, std::weak_ptr<const JobWatcher>> watchers_;
};

}  // namespace muster::daemon

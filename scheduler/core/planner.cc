#include "scheduler/core/planner.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "scheduler/base/status.h"
#include "scheduler/core/cluster_state.h"
#include "scheduler/core/eligibility.h"
#include "scheduler/core/feasibility.h"
#include "scheduler/core/span.h"
#include "scheduler/model/fingerprint.h"

namespace muster {
namespace {

class Pass {
 public:
  explicit Pass(const Snapshot& snapshot)
      : snapshot_(snapshot), nodes_(snapshot.nodes), counts_(CountsOf(snapshot)) {}

  Plan Run() {
    plan_.version = snapshot_.version;
    for (const WaitingJob& job : snapshot_.waiting) {
      if (std::optional<Reason> reason = LookAt(job)) {
        plan_.waiting.push_back(LeftWaiting{job.id, *std::move(reason)});
      }
    }
    plan_.wake = counts_.wake;
    plan_.hash = Fingerprint().Add(plan_.starts).Add(plan_.waiting).value();
    return std::move(plan_);
  }

 private:
  // Starts the job, or says why not.
  std::optional<Reason> LookAt(const WaitingJob& job) {
    std::vector<Reason> blockers;
    AddJobBlockers(snapshot_, job, counts_, blockers);
    if (!blockers.empty()) {
      return std::move(blockers.front());
    }
    const std::uint64_t shape = Fingerprint().Add(job.spec->request).value();
    if (const auto known = unfit_.find(shape); known != unfit_.end()) {
      return known->second;
    }
    if (blocker_.valid()) {
      return Behind(job, shape);
    }
    std::optional<Allocation> place = PlaceJob(nodes_, job.spec->request, ClusterView::kAsIs);
    if (!place.has_value()) {
      Reason reason = WhyNotNow(nodes_, job.spec->request);
      if (reason.kind == ReasonKind::kResources) {
        blocker_ = job.id;
        ahead_ = 1;
      } else {
        unfit_.emplace(shape, reason);
      }
      return reason;
    }
    Start(job, *std::move(place));
    return std::nullopt;
  }

  // Somebody before it waits; a job that can never start says that instead.
  Reason Behind(const WaitingJob& job, std::uint64_t shape) {
    if (fitting_.insert(shape).second &&
        !PlaceJob(nodes_, job.spec->request, ClusterView::kEmptyAll).has_value()) {
      return unfit_.emplace(shape, WhyNotNow(nodes_, job.spec->request)).first->second;
    }
    Reason reason;
    reason.kind = ReasonKind::kPriority;
    reason.behind = blocker_;
    reason.ahead = ahead_++;
    return reason;
  }

  void Start(const WaitingJob& job, Allocation place) {
    for (const NodeAllocation& part : place.nodes) {
      const auto node =
          std::lower_bound(nodes_.begin(), nodes_.end(), part.node,
                           [](const NodePicture& picture, NodeId id) { return picture.id < id; });
      MUSTER_CHECK(node != nodes_.end() && node->id == part.node);
      AddUse(node->taken, *node->machine, part);
    }
    CountStart(job, counts_);
    plan_.starts.push_back(PlannedStart{job.id, std::move(place)});
  }

  const Snapshot& snapshot_;
  std::vector<NodePicture> nodes_;
  PassCounts counts_;
  // By the request's fingerprint: what cannot start in this pass whoever waits before it, since
  // nodes only fill up; and what could on an empty cluster.
  std::map<std::uint64_t, Reason> unfit_;
  std::set<std::uint64_t> fitting_;
  JobId blocker_;
  std::uint32_t ahead_ = 0;
  Plan plan_;
};

}  // namespace

Plan MakePlan(const Snapshot& snapshot, const PolicyConfig&) {
  return Pass(snapshot).Run();
}

}  // namespace muster

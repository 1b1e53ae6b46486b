#include "scheduler/core/planner.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "scheduler/base/status.h"
#include "scheduler/core/cluster_state.h"
#include "scheduler/core/feasibility.h"
#include "scheduler/core/span.h"
#include "scheduler/model/fingerprint.h"

namespace muster {
namespace {

class Pass {
 public:
  explicit Pass(const Snapshot& snapshot) : snapshot_(snapshot), nodes_(snapshot.nodes) {
    for (const ArrayRunning& array : snapshot.arrays) {
      running_[array.submission] = array.running;
    }
  }

  Plan Run() {
    plan_.version = snapshot_.version;
    for (const WaitingJob& job : snapshot_.waiting) {
      if (std::optional<Reason> reason = LookAt(job)) {
        plan_.waiting.push_back(LeftWaiting{job.id, *std::move(reason)});
      }
    }
    plan_.hash = Fingerprint().Add(plan_.starts).Add(plan_.waiting).value();
    return std::move(plan_);
  }

 private:
  // Starts the job, or says why not.
  std::optional<Reason> LookAt(const WaitingJob& job) {
    if (std::optional<Reason> reason = NotEligible(job)) {
      return reason;
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

  // Reasons that have nothing to do with resources.
  std::optional<Reason> NotEligible(const WaitingJob& job) {
    Reason reason;
    if (job.held) {
      reason.kind = ReasonKind::kJobHeldUser;
      return reason;
    }
    if (job.quarantined) {
      reason.kind = ReasonKind::kCleaning;
      return reason;
    }
    if (job.spec->begin > snapshot_.now) {
      reason.kind = ReasonKind::kBeginTime;
      reason.until = job.spec->begin;
      plan_.wake = plan_.wake == kNoTime ? reason.until : std::min(plan_.wake, reason.until);
      return reason;
    }
    const std::uint32_t limit = job.spec->array.has_value() ? job.spec->array->max_running : 0;
    if (limit > 0 && running_[job.submission] >= limit) {
      reason.kind = ReasonKind::kJobArrayTaskLimit;
      reason.limit = limit;
      return reason;
    }
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
    if (job.spec->array.has_value() && job.spec->array->max_running > 0) {
      ++running_[job.submission];
    }
    plan_.starts.push_back(PlannedStart{job.id, std::move(place)});
  }

  const Snapshot& snapshot_;
  std::vector<NodePicture> nodes_;
  std::map<JobId, std::uint32_t> running_;
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

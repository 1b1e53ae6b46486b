#include "scheduler/core/plan/start/plan_draft.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "scheduler/model/value/fingerprint.h"

namespace muster::core {

namespace {

bool IsOf(const WaitingJob& entry, JobId job) {
  return job.value() - entry.id.value() < entry.count;
}

}  // namespace

PlanDraft::PlanDraft(const Snapshot& snapshot) : snapshot_(snapshot) {
  plan_.version = snapshot.version;
  plan_.waiting.reserve(snapshot.waiting.size());
}

void PlanDraft::SetPriorityOf(const WaitingJob& entry, std::uint32_t priority) {
  for (LeftWaiting& left : plan_.waiting) {
    left.priority = IsOf(entry, left.job) ? priority : left.priority;
  }
}

bool PlanDraft::IsLeft(const WaitingJob& entry) const {
  return std::any_of(plan_.waiting.begin(), plan_.waiting.end(),
                     [&](const LeftWaiting& left) { return IsOf(entry, left.job); });
}

void PlanDraft::Leave(const WaitingJob& job, Reason reason, std::vector<Reason> also) {
  NoteBoot(job.id, reason);
  LeftWaiting left{job.id, std::move(reason), std::move(also), priority_, 1};
  if (job.array_index.has_value() && job.submission == last_left_ &&
      Continues(left, plan_.waiting.back())) {
    ++plan_.waiting.back().count;
    return;
  }
  last_left_ = job.submission;
  plan_.waiting.push_back(std::move(left));
}

bool PlanDraft::Continues(LeftWaiting left, const LeftWaiting& before) {
  if (left.job.value() != before.job.value() + before.count) {
    return false;
  }
  if (left.reason.kind == ReasonKind::kPriority) {
    left.reason.ahead -= before.count;
  }
  left.job = before.job;
  left.count = before.count;
  return left == before;
}

void PlanDraft::LeaveComponent(LeftWaiting left) {
  left.priority = priority_;
  plan_.waiting.push_back(std::move(left));
}

void PlanDraft::LeaveSuspended(JobId job, Reason reason) {
  plan_.waiting.push_back(LeftWaiting{job, std::move(reason), {}, 0});
}

void PlanDraft::Reserve(JobId job, const Opening& opening) {
  PlannedReservation reservation{job, opening.start, {}};
  booting_.clear();
  for (const NodeShare& share : opening.shares) {
    const NodeSnapshot& node = snapshot_.nodes[share.node];
    reservation.nodes.push_back(ReservedNode{node.id, share.tasks});
    if (node.ready != kNoTime) {
      booting_.push_back(node.name);
    }
  }
  plan_.reservations.push_back(std::move(reservation));
}

// Which nodes the job waits for, if those of its place have to boot.
void PlanDraft::NoteBoot(JobId job, Reason& reason) const {
  const bool waits_for_nodes =
      reason.kind == ReasonKind::kResources || reason.kind == ReasonKind::kPriority;
  if (!waits_for_nodes || booting_.empty() || plan_.reservations.empty() ||
      plan_.reservations.back().job != job) {
    return;
  }
  reason.name = booting_.size() == 1 ? absl::StrCat("node ", booting_.front())
                                     : absl::StrCat("nodes ", booting_.front(), " and ",
                                                    booting_.size() - 1, " more");
}

bool PlanDraft::Shrinks(JobId job) const {
  return std::any_of(plan_.resizes.begin(), plan_.resizes.end(),
                     [job](const PlannedResize& resize) {
                       return resize.job == job && resize.verdict == ResizeVerdict::kShrink;
                     });
}

Plan PlanDraft::Finish(Time wake) {
  std::sort(plan_.resizes.begin(), plan_.resizes.end(),
            [](const PlannedResize& a, const PlannedResize& b) { return a.job < b.job; });
  // Of several promises to a job the last counts.
  std::stable_sort(plan_.promises.begin(), plan_.promises.end(),
                   [](const PlannedPromise& a, const PlannedPromise& b) { return a.job < b.job; });
  plan_.wake = wake;
  Fingerprint hash;
  hash.Add(plan_.starts).Add(plan_.reservations).Add(plan_.waiting).Add(plan_.drops);
  hash.Add(plan_.preemptions);
  if (!plan_.resumes.empty()) {  // plans of journals from before there were any keep their hash
    hash.Add(plan_.resumes);
  }
  if (!plan_.resizes.empty()) {
    hash.Add(plan_.resizes);
  }
  if (!plan_.promises.empty()) {
    hash.Add(plan_.promises);
  }
  plan_.hash = hash.value();
  return std::move(plan_);
}

}  // namespace muster::core

#include "scheduler/core/plan/second_plan.h"

#include <algorithm>
#include <utility>

namespace muster::core {
namespace {

bool HasOneOf(const WaitingJob& run, const std::set<JobId>& jobs) {
  const auto found = jobs.lower_bound(run.id);
  return found != jobs.end() && found->value() - run.id.value() < run.count;
}

template <class T>
void CopyField(const T& from, T& to) {
  to = from;
}
void CopyField(const std::vector<WaitingJob>& /*from*/, std::vector<WaitingJob>& /*to*/) {}

}  // namespace

bool WaitsForNodes(const LeftWaiting& left) {
  switch (left.reason.kind) {
    case ReasonKind::kResources:
    case ReasonKind::kPriority:
    case ReasonKind::kReservation:
    case ReasonKind::kSwitches:
    case ReasonKind::kHetJob:
      return left.reason.verdict == ReasonClass::kNotNow;
    default:
      return false;
  }
}

std::vector<WaitingJob> FirstJobs(const Snapshot& snapshot, const Plan& plan, std::size_t most,
                                  const std::set<JobId>& refused) {
  std::set<JobId> first;
  for (const PlannedStart& start : plan.starts) {
    first.insert(start.job);
  }
  for (std::size_t i = 0; i < std::min(most, plan.waiting.size()); ++i) {
    first.insert(plan.waiting[i].job);
  }
  std::vector<WaitingJob> waiting;
  for (const WaitingJob& job : snapshot.waiting) {
    if (HasOneOf(job, first) && !HasOneOf(job, refused)) {
      waiting.push_back(job);
    }
  }
  return waiting;
}

Snapshot WithOthersWaiting(const Snapshot& snapshot, std::vector<WaitingJob> waiting) {
  Snapshot other;
  Snapshot::Fields([&snapshot, &other](const auto&... field) {
    (CopyField(snapshot.*(field.member), other.*(field.member)), ...);
  });
  other.waiting = std::move(waiting);
  return other;
}

}  // namespace muster::core

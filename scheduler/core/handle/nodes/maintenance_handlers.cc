#include "scheduler/core/handle/nodes/maintenance_handlers.h"

#include <optional>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/core/handle/attempts/attempt_end.h"
#include "scheduler/core/handle/attempts/checkpoint_handlers.h"
#include "scheduler/core/policy/kill_grace.h"
#include "scheduler/model/policy/policy_snapshot.h"
#include "scheduler/model/policy/reservation.h"

namespace muster::core {
namespace {

// Nobody is told sooner, however long his grace.
constexpr Duration kSoonest = std::chrono::hours(1);

}  // namespace

bool RunsOnElsewhere(const Job& job) {
  return job.spec->elastic ||
         (job.spec->kind == JobKind::kBatch && job.spec->requeue == Choice::kYes);
}

bool IsToLeaveSoon(const ClusterState& state, const Job& job, Time begin, Time now,
                   const SchedulerConfig& config) {
  const Duration grace = KillGraceOf(state.policy().site(), *job.spec, EndCause::kRequeued, config);
  return job.attempt->ending == EndCause::kNone && now >= begin - std::min(grace, kSoonest);
}

bool HaveLeave(const Job& job, const std::string& why, Time now, Transition& transition) {
  if (RunsOnElsewhere(job)) {
    EndAttempt(job, {job.spec->elastic ? EndCause::kResized : EndCause::kRequeued, why}, now,
               transition);
  } else if (job.attempt->advice.notice != CheckpointNotice::kDrain) {
    NoticeDrain(job, now, transition);
  } else {
    return false;
  }
  return true;
}

void MakeWayForMaintenance(const ClusterState& state, Time now, const SchedulerConfig& config,
                           Transition& transition) {
  std::set<JobId> told;
  const PolicySnapshot& policy = state.policy().snapshot();
  for (const auto& [name, reservation] : policy.site->reservations) {
    const std::optional<Window> window = WindowAt(reservation, now);
    if ((reservation.flags & kMaint) == 0 || !window.has_value() ||
        now < window->start - kSoonest) {
      continue;
    }
    const NodeGroup& nodes = policy.nodes->reservations.at(name);
    for (const auto& [node, unused] : state.nodes()) {
      for (const JobId id : nodes.Has(node) ? state.JobsOn(node) : std::vector<JobId>()) {
        const Job& job = *state.FindJob(id);
        if (job.attempt.has_value() && !told.contains(id) && job.spec->reservation != name &&
            IsToLeaveSoon(state, job, window->start, now, config) &&
            HaveLeave(job, absl::StrCat("maintenance (reservation ", name, ")"), now, transition)) {
          told.insert(id);
        }
      }
    }
  }
}

}  // namespace muster::core

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

// Whether the job has no more time than its grace until the reservation begins.
bool IsToBeTold(const ClusterState& state, const Job& job, const Reservation& reservation,
                Time begin, Time now, const SchedulerConfig& config) {
  if (job.attempt->ending != EndCause::kNone || job.spec->reservation == reservation.name) {
    return false;
  }
  const Duration grace = KillGraceOf(state.policy().site(), *job.spec, EndCause::kRequeued, config);
  return now >= begin - std::min(grace, kSoonest);
}

// Whether there was something left to tell it.
bool TellOfMaintenance(const Job& job, const Reservation& reservation, Time now,
                       Transition& transition) {
  const bool runs_again = job.spec->kind == JobKind::kBatch && job.spec->requeue == Choice::kYes;
  if (runs_again || job.spec->elastic) {
    EndAttempt(job,
               {job.spec->elastic ? EndCause::kResized : EndCause::kRequeued,
                absl::StrCat("maintenance (reservation ", reservation.name, ")")},
               now, transition);
  } else if (job.attempt->advice.notice != CheckpointNotice::kDrain) {
    NoticeDrain(job, now, transition);
  } else {
    return false;
  }
  return true;
}

}  // namespace

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
        if (job.attempt.has_value() && !told.contains(id) &&
            IsToBeTold(state, job, reservation, window->start, now, config) &&
            TellOfMaintenance(job, reservation, now, transition)) {
          told.insert(id);
        }
      }
    }
  }
}

}  // namespace muster::core

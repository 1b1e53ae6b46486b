#include "scheduler/core/maintenance_turns.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/core/checkpoint_turns.h"
#include "scheduler/core/kill_grace.h"
#include "scheduler/model/host_list.h"
#include "scheduler/model/reservation.h"

namespace muster {
namespace {

constexpr const char* kAllNodes = "ALL";
// Nobody is told sooner, however long his grace.
constexpr Duration kSoonest = std::chrono::hours(1);

std::vector<NodeId> NodesOf(const ClusterState& state, const std::string& hosts) {
  std::vector<NodeId> nodes;
  if (hosts == kAllNodes) {
    for (const auto& [id, node] : state.nodes()) {
      nodes.push_back(id);
    }
    return nodes;
  }
  const absl::StatusOr<std::vector<std::string>> names = ExpandHostlist(hosts);
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    if (const Node* node = state.FindNode(name)) {
      nodes.push_back(node->id);
    }
  }
  return nodes;
}

void EndForIt(const ClusterState& state, const Job& job, const std::string& why, Time now,
              Turn& turn) {
  const EndCause cause = job.spec->elastic ? EndCause::kResized : EndCause::kRequeued;
  turn.events.emplace_back(AttemptEnding{job.id, job.attempt->number, cause, why, now});
  Job ending = job;
  ending.attempt->ending = cause;
  for (Effect& effect : state.ActionsFor(ending)) {
    turn.effects.push_back(std::move(effect));
  }
}

void LookAt(const ClusterState& state, const Job& job, const Reservation& reservation, Time begin,
            Time now, Turn& turn) {
  if (job.attempt->ending != EndCause::kNone || job.spec->reservation == reservation.name) {
    return;
  }
  const Duration grace = KillGraceOf(state.policy().book(), *job.spec, EndCause::kRequeued);
  if (now < begin - std::min(grace, kSoonest)) {
    return;
  }
  const bool runs_again = job.spec->kind == JobKind::kBatch && job.spec->requeue == Choice::kYes;
  if (runs_again || job.spec->elastic) {
    EndForIt(state, job, absl::StrCat("maintenance (reservation ", reservation.name, ")"), now,
             turn);
  } else if (job.attempt->advice.notice != CheckpointNotice::kDrain) {
    CheckpointAdvice advice = job.attempt->advice;
    advice.notice = CheckpointNotice::kDrain;
    GiveAdvice(job, advice, now, turn);
  }
}

}  // namespace

void MakeWayForMaintenance(const ClusterState& state, Time now, Turn& turn) {
  std::set<JobId> seen;
  for (const auto& [name, reservation] : state.policy().book().reservations) {
    const std::optional<Window> window = WindowAt(reservation, now);
    if ((reservation.flags & kMaint) == 0 || !window.has_value() ||
        now < window->start - kSoonest) {
      continue;
    }
    for (const NodeId node : NodesOf(state, reservation.nodes)) {
      for (const JobId id : state.JobsOn(node)) {
        const Job& job = *state.FindJob(id);
        if (job.attempt.has_value() && seen.insert(id).second) {
          LookAt(state, job, reservation, window->start, now, turn);
        }
      }
    }
  }
}

}  // namespace muster

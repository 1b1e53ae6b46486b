#include "scheduler/core/state/actions.h"

#include "scheduler/core/state/tables/attempt.h"

namespace muster::core {

std::vector<Effect> ActionsFor(const Job& job) {
  std::vector<Effect> effects;
  if (!job.attempt.has_value()) {
    return effects;
  }
  const Attempt& attempt = *job.attempt;
  const bool ending = attempt.ending != EndCause::kNone;
  for (std::size_t i = 0; i < attempt.runs.size(); ++i) {
    const NodeId node = attempt.allocation.nodes[i].node;
    if (attempt.runs[i].phase == RunPhase::kEnded) {
      continue;
    }
    if (ending) {
      effects.emplace_back(Terminate{job.id, attempt.number, node, attempt.ending});
    } else if (attempt.runs[i].phase == RunPhase::kOrdered) {
      effects.emplace_back(Launch{job.id, attempt.number, node});
    } else if (attempt.runs[i].suspension < attempt.suspension) {
      if (IsToBeFrozen(attempt)) {
        effects.emplace_back(Suspend{job.id, attempt.number, node, attempt.suspension});
      } else {
        effects.emplace_back(Resume{job.id, attempt.number, node, attempt.suspension});
      }
    }
    // The first advice came with the launch; what was taken of it may be older than the newest.
    if (!ending && attempt.advice.number > kFirstAdvice) {
      effects.emplace_back(Advise{job.id, attempt.number, node});
    }
  }
  for (const StepRun& step : attempt.steps) {
    for (const NodeId node : step.waiting_for) {
      if (!ending) {
        effects.emplace_back(LaunchStep{job.id, attempt.number, step.id, node});
      }
    }
  }
  return effects;
}

}  // namespace muster::core

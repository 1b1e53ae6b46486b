#include "scheduler/core/state/actions.h"

#include "scheduler/core/state/tables/attempt.h"

namespace muster::core {
namespace {

// What the node is to do about its part of the job.
void AppendActions(const Job& job, const NodeRun& run, NodeId node, std::vector<Effect>& effects) {
  const Attempt& attempt = *job.attempt;
  if (run.phase == RunPhase::kEnded) {
    return;
  }
  if (attempt.ending != EndCause::kNone) {
    effects.emplace_back(Terminate{job.id, attempt.number, node, attempt.ending});
    return;
  }
  if (run.phase == RunPhase::kOrdered) {
    effects.emplace_back(Launch{job.id, attempt.number, node});
  } else if (run.suspension < attempt.suspension) {
    if (IsToBeFrozen(attempt)) {
      effects.emplace_back(Suspend{job.id, attempt.number, node, attempt.suspension});
    } else {
      effects.emplace_back(Resume{job.id, attempt.number, node, attempt.suspension});
    }
  }
  // The first advice came with the launch; what was taken of it may be older than the newest.
  if (attempt.advice.number > kFirstAdvice) {
    effects.emplace_back(Advise{job.id, attempt.number, node});
  }
}

}  // namespace

std::vector<Effect> ActionsFor(const Job& job) {
  std::vector<Effect> effects;
  if (!job.attempt.has_value()) {
    return effects;
  }
  const Attempt& attempt = *job.attempt;
  for (std::size_t i = 0; i < attempt.runs.size(); ++i) {
    AppendActions(job, attempt.runs[i], attempt.allocation.nodes[i].node, effects);
  }
  if (attempt.ending != EndCause::kNone) {
    return effects;
  }
  for (const StepRun& step : attempt.steps) {
    for (const NodeId node : step.waiting_for) {
      effects.emplace_back(LaunchStep{job.id, attempt.number, step.id, node});
    }
  }
  return effects;
}

}  // namespace muster::core

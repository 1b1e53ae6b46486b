#include "scheduler/core/handle/attempts/checkpoint_handlers.h"

#include "scheduler/core/state/tables/attempt.h"
#include "scheduler/core/state/tables/checkpoint_account.h"

namespace muster::core {
namespace {

constexpr int kQuarters = 4;

bool MayBeAdvised(const Job& job) {
  return job.attempt.has_value() && job.attempt->ending == EndCause::kNone;
}

bool IsFarFrom(Duration a, Duration b) {
  return (a > b ? a - b : b - a) * kQuarters > b;
}

}  // namespace

bool OwesAnswer(const CheckpointAdvice& advice, const CheckpointRecord& record) {
  return advice.notice != CheckpointNotice::kNone && record.notice < advice.number;
}

void GiveAdvice(const Job& job, CheckpointAdvice advice, Time now, Transition& transition) {
  const Attempt& attempt = *job.attempt;
  advice.number = attempt.advice.number + 1;
  transition.events.emplace_back(AttemptAdvised{job.id, attempt.number, advice, now});
  for (std::size_t i = 0; i < attempt.runs.size(); ++i) {
    if (attempt.runs[i].phase != RunPhase::kEnded) {
      transition.effects.emplace_back(
          Advise{job.id, attempt.number, attempt.allocation.nodes[i].node});
    }
  }
}

void NoticeDrain(const Job& job, Time now, Transition& transition) {
  CheckpointAdvice advice = job.attempt->advice;
  advice.notice = CheckpointNotice::kDrain;
  GiveAdvice(job, advice, now, transition);
}

void NoticeDrain(const ClusterState& state, NodeId node, Time now, Transition& transition) {
  for (const JobId id : state.JobsOn(node)) {
    const Job& job = *state.FindJob(id);
    const Attempt& attempt = *job.attempt;
    if (MayBeAdvised(job) && attempt.runs[*RunOn(attempt, node)].phase != RunPhase::kEnded) {
      NoticeDrain(job, now, transition);
    }
  }
}

void AdviseAgain(const ClusterState& state, Time now, Transition& transition) {
  state.jobs().ForEachRun([&](const Job& job, std::uint32_t) {
    if (!MayBeAdvised(job)) {
      return;
    }
    const CheckpointAdvice& before = job.attempt->advice;
    const CheckpointRecord record = CheckpointsOf(*job.attempt);
    if (record == CheckpointRecord() || OwesAnswer(before, record)) {
      return;
    }
    const Duration mtbf = state.health().MtbfOf(job.attempt->allocation);
    const Duration loss_mtbf = state.health().LossMtbfOf(job.attempt->allocation);
    if (IsFarFrom(mtbf, before.mtbf) || IsFarFrom(loss_mtbf, before.loss_mtbf)) {
      CheckpointAdvice advice = before;
      advice.mtbf = mtbf;
      advice.loss_mtbf = loss_mtbf;
      advice.notice = CheckpointNotice::kNone;
      GiveAdvice(job, advice, now, transition);
    }
  });
}

}  // namespace muster::core

#include "scheduler/core/checkpoint_turns.h"

#include "scheduler/core/checkpoint_account.h"

namespace muster {
namespace {

constexpr int kQuarters = 4;

bool MayBeAdvised(const Job& job) {
  return job.attempt.has_value() && job.attempt->ending == EndCause::kNone;
}

void Tell(const Job& job, const CheckpointAdvice& advice, Time now, Turn& turn) {
  const Attempt& attempt = *job.attempt;
  turn.events.emplace_back(AttemptAdvised{job.id, attempt.number, advice, now});
  for (std::size_t i = 0; i < attempt.runs.size(); ++i) {
    if (attempt.runs[i].phase != RunPhase::kEnded) {
      turn.effects.emplace_back(Advise{job.id, attempt.number, attempt.allocation.nodes[i].node});
    }
  }
}

bool IsFarFrom(Duration a, Duration b) {
  return (a > b ? a - b : b - a) * kQuarters > b;
}

}  // namespace

void NoticeDrain(const ClusterState& state, NodeId node, Time now, Turn& turn) {
  for (const JobId id : state.JobsOn(node)) {
    const Job& job = *state.FindJob(id);
    const Attempt& attempt = *job.attempt;
    if (MayBeAdvised(job) && attempt.runs[*RunOn(attempt, node)].phase != RunPhase::kEnded) {
      Tell(job, {attempt.advice.number + 1, attempt.advice.mtbf, CheckpointNotice::kDrain}, now,
           turn);
    }
  }
}

void AdviseAnew(const ClusterState& state, Time now, Turn& turn) {
  state.jobs().ForEachRun([&](const Job& job, std::uint32_t) {
    if (!MayBeAdvised(job)) {
      return;
    }
    const CheckpointAdvice& before = job.attempt->advice;
    const CheckpointRecord record = CheckpointsOf(*job.attempt);
    const bool answered =
        before.notice == CheckpointNotice::kNone || record.notice >= before.number;
    if (record == CheckpointRecord() || !answered) {
      return;
    }
    const Duration mtbf = state.health().MtbfOf(job.attempt->allocation);
    if (IsFarFrom(mtbf, before.mtbf)) {
      Tell(job, {before.number + 1, mtbf, CheckpointNotice::kNone}, now, turn);
    }
  });
}

}  // namespace muster

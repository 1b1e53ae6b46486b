#include "scheduler/core/state/tables/checkpoint_account.h"

#include <algorithm>

namespace muster::core {
namespace {

// What the attempt's work was kept for: its resources less the time suspended.
Duration HeldFor(const Attempt& attempt, Time end) {
  return std::max(Duration(0), end - attempt.started - SuspendedFor(attempt, end));
}

CheckpointTotals With(CheckpointTotals totals, const CheckpointRecord& record) {
  totals.count += record.count;
  totals.stall += record.stall;
  totals.restart += record.restart;
  const auto newest = [](Duration measured, Duration before) {
    return measured > Duration(0) ? measured : before;
  };
  totals.cost = newest(record.cost, totals.cost);
  totals.flush = newest(record.flush, totals.flush);
  totals.slow = newest(record.slow, totals.slow);
  return totals;
}

}  // namespace

CheckpointRecord CheckpointsOf(const Attempt& attempt) {
  CheckpointRecord all;
  bool first = true;
  for (const NodeRun& run : attempt.runs) {
    const CheckpointRecord& here = run.checkpoints;
    if (here == CheckpointRecord()) {
      continue;
    }
    if (here.count == 0 && here.slow > Duration(0)) {  // it answered a signal, by no library
      all.cost = std::max(all.cost, here.cost);
      all.slow = std::max(all.slow, here.slow);
      continue;
    }
    if (first || here.begun < all.begun) {  // as safe as on the node that is behind
      all.begun = here.begun;
      all.committed = here.committed;
    }
    all.count = first ? here.count : std::min(all.count, here.count);
    all.notice = first ? here.notice : std::min(all.notice, here.notice);
    all.interval = all.interval == Duration(0) ? here.interval : all.interval;
    all.cost = std::max(all.cost, here.cost);
    all.stall = std::max(all.stall, here.stall);
    all.restart = std::max(all.restart, here.restart);
    all.flush = std::max(all.flush, here.flush);
    all.slow = std::max(all.slow, here.slow);
    all.copy_every = std::max(all.copy_every, here.copy_every);
    all.bytes += here.bytes;
    all.refused = all.refused.empty() ? here.refused : all.refused;
    first = false;
  }
  return all;
}

bool LosesWork(const Job& job) {
  const Attempt& attempt = *job.attempt;
  switch (attempt.ending) {
    case EndCause::kRequeued:
    case EndCause::kPreempted:
    case EndCause::kPreemptedToRequeue:
    case EndCause::kResized:
      return true;
    case EndCause::kNone:
    case EndCause::kJobEnding:
      break;
    default:
      return false;
  }
  const auto failed = [](const NodeRun& run) { return IsNodeFailure(run.cause); };
  return job.spec->no_kill ? std::all_of(attempt.runs.begin(), attempt.runs.end(), failed)
                           : std::any_of(attempt.runs.begin(), attempt.runs.end(), failed);
}

Duration LostWork(const Job& job, Time end) {
  if (!LosesWork(job)) {
    return Duration(0);
  }
  const Attempt& attempt = *job.attempt;
  const CheckpointRecord record = CheckpointsOf(attempt);
  const Time safe =
      record.committed != kNoTime ? record.committed : attempt.started + record.restart;
  const Duration rest = HeldFor(attempt, end) - record.stall - record.restart;
  return std::clamp(end - safe, Duration(0), std::max(rest, Duration(0)));
}

CheckpointTotals TotalsAtEnd(const Job& job, Time end) {
  if (!job.attempt.has_value()) {
    return job.checkpoints;
  }
  CheckpointTotals totals = TotalsSoFar(job);
  totals.held += HeldFor(*job.attempt, end);
  totals.lost += LostWork(job, end);
  return totals;
}

CheckpointTotals TotalsSoFar(const Job& job) {
  return job.attempt.has_value() ? With(job.checkpoints, CheckpointsOf(*job.attempt))
                                 : job.checkpoints;
}

Duration ChangeCostOf(const Attempt& attempt) {
  Duration cost{0};
  Duration restart{0};
  for (const NodeRun& run : attempt.runs) {
    cost = std::max(cost, run.checkpoints.cost);
    restart = std::max(restart, run.checkpoints.restart);
  }
  return cost + restart;
}

}  // namespace muster::core

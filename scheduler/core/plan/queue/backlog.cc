#include "scheduler/core/plan/queue/backlog.h"

#include <algorithm>
#include <iterator>

#include "scheduler/core/place/nodes/node_timeline.h"
#include "scheduler/core/prompt/prompt_order.h"

namespace muster::core {
namespace {

absl::uint128 WorkOf(std::uint64_t share, Duration duration) {
  const std::int64_t span = std::clamp<std::int64_t>(duration.count(), 0, kLongSpan);
  return absl::uint128(share) * static_cast<std::uint64_t>(span);
}

Duration TimeFor(absl::uint128 work) {
  const absl::uint128 span = work / kShareParts;
  return Duration(static_cast<std::int64_t>(std::min<absl::uint128>(span, kLongSpan)));
}

}  // namespace

Duration LimitOf(const JobSpec& spec) {
  const Duration limit = PlannedDuration(spec.time_limit);
  return limit.count() > 0 ? limit : kUnsaidLimit;
}

Duration EstimateOf(const JobSpec& spec, Duration estimate) {
  return estimate.count() > 0 ? std::min(estimate, LimitOf(spec)) : LimitOf(spec);
}

const Backlog::Work& Backlog::Sum() const {
  if (!work_.has_value()) {
    AddRunning(work_.emplace(Work()));
    AddWaiting(*work_);
  }
  return *work_;
}

void Backlog::AddRunning(Work& work) const {
  for (const RunningJob& job : snapshot_.running) {
    const std::uint64_t share = DominantShare(HeldBy(job), whole_);
    const Duration ran = snapshot_.now - job.started - job.suspended;
    const Duration limit = LimitOf(*job.spec);
    work.running += WorkOf(share, limit - ran);
    // One that has outlived its estimate is thought to need all of its limit.
    const Duration estimate = EstimateOf(*job.spec, job.estimate);
    work.all += WorkOf(share, (ran < estimate ? estimate : limit) - ran);
  }
}

void Backlog::AddWaiting(Work& work) const {
  std::vector<Run>& runs = work.runs;
  runs.reserve(snapshot_.waiting.size());
  for (const WaitingJob& job : snapshot_.waiting) {
    const std::uint64_t share = DominantShare(AskOf(*job.spec), whole_);
    work.all += WorkOf(share, EstimateOf(*job.spec, job.estimate)) * job.count;
    runs.push_back({job.id, job.count, WorkOf(share, LimitOf(*job.spec)), 0});
  }
  const auto is_before = [](const Run& a, const Run& b) { return a.first < b.first; };
  if (!std::is_sorted(runs.begin(), runs.end(), is_before)) {
    std::sort(runs.begin(), runs.end(), is_before);
  }
  absl::uint128 sum = 0;
  for (Run& run : runs) {
    run.before = sum;
    sum += run.work * run.count;
  }
}

Duration Backlog::All() const {
  return TimeFor(Sum().all);
}

Duration Backlog::Before(JobId job) const {
  const Work& work = Sum();
  const auto after = std::upper_bound(work.runs.begin(), work.runs.end(), job,
                                      [](JobId id, const Run& run) { return id < run.first; });
  if (after == work.runs.begin()) {
    return TimeFor(work.running);
  }
  const Run& run = *std::prev(after);
  const std::uint64_t of_it = std::min<std::uint64_t>(run.count, job.value() - run.first.value());
  return TimeFor(work.running + run.before + run.work * of_it);
}

}  // namespace muster::core

#include "scheduler/core/plan/waiting_list.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "scheduler/core/plan/queue/waiting_jobs.h"
#include "scheduler/core/state/pending_jobs.h"

namespace muster::core {
namespace {

bool GoesByElement(const JobSpec& spec) {
  return std::any_of(
      spec.dependency.terms.begin(), spec.dependency.terms.end(),
      [](const DependencyTerm& term) { return term.kind == DependencyKind::kAfterCorr; });
}

// Calls visit(job, count) for the pending jobs, as JobTable::ForEachRun would: one by one where
// they are few among many that run.
template <class Visitor>
void ForEachPending(const ClusterState& state, const Visitor& visit) {
  constexpr std::size_t kLookup = 8;  // steps of a walk that a look-up costs
  const JobTable& jobs = state.jobs();
  if (state.index().pending().size() * kLookup > jobs.size() - jobs.untouched()) {
    jobs.ForEachRun([&visit](const Job& job, std::uint32_t count) {
      if (IsWaiting(job.state)) {
        visit(job, count);
      }
    });
    return;
  }
  ForEachPendingWhile(state, [&visit](const Job& job, std::uint32_t count) {
    visit(job, count);
    return true;
  });
}

// What the job asks for: an elastic one that shrinks, fewer nodes than it may have.
std::shared_ptr<const JobSpec> SpecOf(const Job& job) {
  if (job.within == 0) {
    return job.spec;
  }
  auto spec = std::make_shared<JobSpec>(*job.spec);
  spec->request.max_nodes = std::min(spec->request.max_nodes, job.within);
  return spec;
}

std::set<JobId> QuarantinedJobs(const ClusterState& state) {
  std::set<JobId> quarantined;
  for (const NodeId id : state.node_table().quarantining()) {
    for (const QuarantinedAttempt& attempt : state.FindNode(id)->quarantined) {
      quarantined.insert(attempt.job);
    }
  }
  return quarantined;
}

// What the entry is but for its dependency and its quarantine.
WaitingJob EntryOf(const Job& job, std::uint32_t count) {
  return WaitingJob{
      job.id, job.submission, job.array_index,        SpecOf(job),       job.held,
      false,  job.submitted,  job.last_attempt,       job.held_by,       {},
      count,  job.het_size,   job.resized != kNoTime, job.estimate.used, job.promised};
}

// Sets what goes with other jobs and with time.
void Judge(const ClusterState& state, const std::set<JobId>& quarantined, Time now,
           WaitingJob& entry) {
  entry.quarantined = !quarantined.empty() && quarantined.contains(entry.id);
  if (!entry.spec->dependency.terms.empty()) {
    entry.dependency = state.dependencies().Look(*state.FindJob(entry.id), now);
  }
}

bool BeginsEarlier(const JobRange& a, const JobRange& b) {
  return a.first < b.first;
}

// In order, those that overlap put together.
void Unite(std::vector<JobRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(), BeginsEarlier);
  std::size_t last = 0;
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first < ranges[last].end) {
      ranges[last].end = std::max(ranges[last].end, ranges[i].end);
    } else {
      ranges[++last] = ranges[i];
    }
  }
  ranges.resize(ranges.empty() ? 0 : last + 1);
}

// Whether one of the united ranges has some of the entry's jobs.
bool Meets(const std::vector<JobRange>& ranges, const JobRange& entry) {
  const auto first =
      std::upper_bound(ranges.begin(), ranges.end(), entry.first,
                       [](JobId id, const JobRange& range) { return id < range.end; });
  return first != ranges.end() && first->first < entry.end;
}

// Takes the entries out of the list that the ranges meet, and adds their jobs to the ranges.
void TakeOutStale(std::vector<JobRange>& ranges, std::vector<WaitingJob>& waiting) {
  if (ranges.empty()) {
    return;
  }
  const std::vector<JobRange> touched = ranges;
  const auto gone = std::remove_if(waiting.begin(), waiting.end(), [&](const WaitingJob& entry) {
    const JobRange jobs{entry.id, JobId(entry.id.value() + entry.count)};
    const bool stale = Meets(touched, jobs);
    if (stale) {
      ranges.push_back(jobs);
    }
    return stale;
  });
  waiting.erase(gone, waiting.end());
  Unite(ranges);
}

// Adds the entries of those of its jobs that wait.
void AddWaitingOf(const ClusterState& state, const JobRange& range,
                  std::vector<WaitingJob>& waiting) {
  const JobTable& jobs = state.jobs();
  for (std::optional<JobId> next = jobs.NextFrom(range.first);
       next.has_value() && *next < range.end;) {
    const Job& job = *jobs.Find(*next);
    const std::uint32_t alike =
        GoesByElement(*job.spec) ? 1 : std::max(1U, jobs.UntouchedFrom(*next));
    if (IsWaiting(job.state)) {
      waiting.push_back(EntryOf(job, alike));
    }
    next = jobs.NextFrom(JobId(next->value() + alike));
  }
}

}  // namespace

std::vector<WaitingJob> WaitingOf(const ClusterState& state, Time now) {
  const std::set<JobId> quarantined = QuarantinedJobs(state);
  std::vector<WaitingJob> waiting;
  const auto add = [&](const Job& job, std::uint32_t count) {
    waiting.push_back(EntryOf(job, count));
    Judge(state, quarantined, now, waiting.back());
  };
  ForEachPending(state, [&](const Job& job, std::uint32_t count) {
    if (count == 1 || !GoesByElement(*job.spec)) {
      add(job, count);
      return;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      add(*state.FindJob(JobId(job.id.value() + i)), 1);
    }
  });
  if (!std::is_sorted(waiting.begin(), waiting.end(), GoesBefore)) {
    std::sort(waiting.begin(), waiting.end(), GoesBefore);
  }
  return waiting;
}

bool UpdateWaiting(const ClusterState& state, const TouchedJobs& touched, Version since, Time now,
                   std::vector<WaitingJob>& waiting) {
  constexpr std::size_t kFew = 64;
  std::vector<JobRange> ranges;
  if (!touched.AppendSince(since, state.version(), ranges) ||
      ranges.size() > kFew + waiting.size() / 4) {
    return false;
  }
  Unite(ranges);
  TakeOutStale(ranges, waiting);
  const auto middle = static_cast<std::ptrdiff_t>(waiting.size());
  for (const JobRange& range : ranges) {
    AddWaitingOf(state, range, waiting);
  }
  const auto added = waiting.begin() + middle;
  std::sort(added, waiting.end(), GoesBefore);
  if (added != waiting.begin() && added != waiting.end() && GoesBefore(*added, *std::prev(added))) {
    std::inplace_merge(waiting.begin(), added, waiting.end(), GoesBefore);
  }
  const std::set<JobId> quarantined = QuarantinedJobs(state);
  for (WaitingJob& entry : waiting) {
    Judge(state, quarantined, now, entry);
  }
  return true;
}

}  // namespace muster::core

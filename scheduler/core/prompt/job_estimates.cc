#include "scheduler/core/prompt/job_estimates.h"

#include <chrono>
#include <variant>

#include "scheduler/model/job/job_state.h"

namespace muster::core {
namespace {

// What stands in for the limit of a job that has none.
constexpr Duration kUnsaid = std::chrono::hours(24);

// The user by number: one who changes his name is the same.
JobLikeness LikenessOf(const JobSpec& spec) {
  const Duration limit = spec.time_limit.count() > 0 ? spec.time_limit : kUnsaid;
  return {std::int64_t{spec.user.uid}, limit.count(),
          std::int64_t{spec.request.tasks} * spec.request.cpus_per_task, NameNumber(spec.name)};
}

}  // namespace

JobEstimate JobEstimates::Of(const JobSpec& spec) const {
  const JobLikeness job = LikenessOf(spec);
  const RunTimeEstimate estimate = estimates_.Estimate(job);
  return {Duration(estimate.used), Duration(estimate.guess), estimate.source,
          estimates_.Trust(job.user)};
}

void JobEstimates::AddTo(std::vector<Event>& events) const {
  for (Event& event : events) {
    auto* submitted = std::get_if<JobSubmitted>(&event);
    if (submitted != nullptr && submitted->components.empty()) {
      submitted->estimate = Of(submitted->spec);
    }
  }
}

void JobEstimates::Observe(const Job& job, const JobEnded& end) {
  if (HasRunItsCourse(end.state) && job.attempt.has_value()) {
    const Duration ran = end.time - CountedFrom(*job.attempt, end.time);
    estimates_.Observe(LikenessOf(*job.spec),
                       {job.estimate.guess.count(), job.estimate.used.count(), job.estimate.source},
                       ran.count());
  }
}

}  // namespace muster::core

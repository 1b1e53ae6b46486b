#include "scheduler/core/handle/start_check.h"

#include <algorithm>

#include "scheduler/core/policy/deadline.h"
#include "scheduler/core/state/job_group.h"
#include "scheduler/model/job/job_state.h"

namespace muster::core {

bool StartGate::Admits(JobId id) const {
  const Job* job = state_.FindJob(id);
  return job != nullptr && state_.dependencies().Look(*job, now_) == nullptr &&
         CanMeetDeadline(*job->spec, now_) && !alone_.contains(job->submission) &&
         !licenses_.WhyShort(*job->spec, config_).has_value();
}

bool StartGate::Admits(std::span<const PlannedStart> starts) const {
  StartGate after = *this;
  for (const PlannedStart& start : starts) {
    if (!after.Admits(start.job)) {
      return false;
    }
    after.licenses_.Take(start.job, *state_.FindJob(start.job)->spec);
  }
  return true;
}

void StartGate::Count(JobId id) {
  const Job& job = *state_.FindJob(id);
  licenses_.Take(id, *job.spec);
  if (IsSingleton(job.spec->dependency)) {
    alone_.insert(job.submission);
  }
}

bool StartGate::MustDrop(const PlannedDrop& drop) const {
  const Job* job = state_.FindJob(drop.job);
  if (job == nullptr || !IsWaiting(job->state)) {
    return false;
  }
  if (IsPastDeadline(drop.state)) {
    const std::vector<const Job*> group = GroupOf(state_, *job);
    return std::any_of(group.begin(), group.end(), [this](const Job* component) {
      return !CanMeetDeadline(*component->spec, now_);
    });
  }
  const std::shared_ptr<const OpenDependency> open = state_.dependencies().Look(*job, now_);
  return open != nullptr && open->state == TermState::kNever &&
         job->spec->kill_on_invalid_dep == Choice::kYes;
}

}  // namespace muster::core

#include "scheduler/core/state/apply/job_index.h"

#include <algorithm>

namespace muster::core {
namespace {

bool HasThrottle(const Job& job) {
  return job.spec->array.has_value() && job.spec->array->max_running > 0;
}

}  // namespace

void JobIndex::NoteSpec(const JobSpec& spec) {
  by_user_ = by_user_ || spec.request.exclusive_user ||
             std::any_of(spec.alternatives.begin(), spec.alternatives.end(),
                         [](const Alternative& other) { return other.request.exclusive_user; });
}

void JobIndex::Note(const Job& job) {
  if (IsWaiting(job.state)) {
    pending_.insert(pending_.end(), job.id);
  } else {
    pending_.erase(job.id);
  }
  if (IsSuspended(job.state)) {
    suspended_.insert(job.id);
  } else {
    suspended_.erase(job.id);
  }
}

void JobIndex::Erase(JobId job) {
  pending_.erase(job);
  suspended_.erase(job);
}

void JobIndex::AddHolder(const Job& job) {
  if (HasThrottle(job)) {
    ++array_running_[job.submission];
  }
  if (job.spec->elastic) {
    elastic_.insert(job.id);
  }
}

void JobIndex::RemoveHolder(const Job& job) {
  const auto running = array_running_.find(job.submission);
  if (HasThrottle(job) && running != array_running_.end() && --running->second == 0) {
    array_running_.erase(running);
  }
  elastic_.erase(job.id);
}

}  // namespace muster::core

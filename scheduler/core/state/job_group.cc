#include "scheduler/core/state/job_group.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace muster::core {

std::vector<const Job*> GroupOf(const ClusterState& state, const Job& job) {
  if (!IsComponent(job)) {
    return {&job};
  }
  std::vector<const Job*> group;
  for (std::uint32_t i = 0; i < job.het_size; ++i) {
    if (const Job* component = state.FindJob(JobId(job.submission.value() + i))) {
      group.push_back(component);
    }
  }
  return group;
}

AttemptNumber NextAttempt(const ClusterState& state, const Job& job) {
  AttemptNumber last = job.last_attempt;
  for (const Job* component : GroupOf(state, job)) {
    last = std::max(last, component->last_attempt);
  }
  return last.Next();
}

std::string LabelOf(const Job& job) {
  return IsComponent(job) ? absl::StrCat(job.submission.value(), "+", OffsetOf(job))
                          : ToString(job.id);
}

absl::Status NamesWhole(const Job& job, JobId named) {
  if (!IsComponent(job) || named == job.submission) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "job ", ToString(named), ": is component ", LabelOf(job), " of a heterogeneous job, whose ",
      "components live and end together; name the whole: ", ToString(job.submission)));
}

std::string Label(JobId job, std::optional<std::uint32_t> array_index) {
  return array_index.has_value() ? absl::StrCat(job.value(), "_", *array_index) : ToString(job);
}

absl::Status NoSuchJob(JobId job, std::optional<std::uint32_t> array_index) {
  return absl::NotFoundError(absl::StrCat("job ", Label(job, array_index),
                                          ": no such job, or it has ended; see muster history"));
}

absl::StatusOr<std::vector<const Job*>> FindWhole(const ClusterState& state, JobId job,
                                                  std::optional<std::uint32_t> array_index) {
  std::vector<const Job*> jobs = state.FindJobs(job, array_index);
  if (jobs.empty()) {
    return NoSuchJob(job, array_index);
  }
  if (absl::Status whole = NamesWhole(*jobs.front(), job); !whole.ok()) {
    return whole;
  }
  return jobs;
}

std::size_t StartsTogether(const ClusterState& state, std::span<const PlannedStart> starts) {
  const Job* first = state.FindJob(starts.front().job);
  if (first == nullptr || !IsComponent(*first)) {
    return 1;
  }
  std::size_t count = 1;
  while (count < starts.size()) {
    const Job* next = state.FindJob(starts[count].job);
    if (next == nullptr || next->submission != first->submission) {
      break;
    }
    ++count;
  }
  return count;
}

bool IsWholeGroup(const ClusterState& state, std::span<const PlannedStart> starts) {
  const Job* first = state.FindJob(starts.front().job);
  if (first == nullptr || !IsComponent(*first)) {
    return starts.size() == 1;
  }
  const std::vector<const Job*> group = GroupOf(state, *first);
  return group.size() == first->het_size &&
         std::equal(group.begin(), group.end(), starts.begin(), starts.end(),
                    [](const Job* job, const PlannedStart& start) { return job->id == start.job; });
}

std::optional<std::string> BrokenGroup(const ClusterState& state) {
  for (const auto& [id, job] : state.jobs()) {
    if (!IsComponent(job)) {
      continue;
    }
    const std::string name = absl::StrCat("job ", LabelOf(job));
    const std::vector<const Job*> group = GroupOf(state, job);
    if (OffsetOf(job) >= job.het_size || group.size() != job.het_size) {
      return absl::StrCat(name, ": ", group.size(), " of its ", job.het_size,
                          " components are in the state");
    }
    const Job& leader = *group.front();
    if (leader.het_size != job.het_size || leader.attempt.has_value() != job.attempt.has_value() ||
        leader.held != job.held) {
      return absl::StrCat(name, ": its leader is ", Name(leader.state), ", it is ",
                          Name(job.state));
    }
    if (job.attempt.has_value() && (job.attempt->started != leader.attempt->started ||
                                    job.attempt->number != leader.attempt->number)) {
      return absl::StrCat(name, ": did not start with its leader");
    }
  }
  return std::nullopt;
}

}  // namespace muster::core

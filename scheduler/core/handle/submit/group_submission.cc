#include "scheduler/core/handle/submit/group_submission.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/core/handle/submit/dependency_check.h"
#include "scheduler/core/handle/submit/new_job.h"
#include "scheduler/core/handle/submit/terms.h"
#include "scheduler/core/handle/submit/user_jobs.h"
#include "scheduler/core/handle/submit/validate.h"
#include "scheduler/core/policy/admission.h"
#include "scheduler/core/policy/deadline.h"
#include "scheduler/model/job/program_check.h"

namespace muster::core {
namespace {

// What the first component says of the whole job.
void TakeOver(const JobSpec& leader, JobSpec* spec) {
  spec->kind = leader.kind;
  spec->user = leader.user;
  spec->nice = leader.nice;
  spec->priority = leader.priority;
  spec->held = leader.held;
  spec->begin = leader.begin;
  spec->dependency = leader.dependency;
  spec->kill_on_invalid_dep = leader.kill_on_invalid_dep;
  spec->deadline = leader.deadline;
  spec->requeue = leader.requeue;
  spec->requeue_exit = leader.requeue_exit;
}

// Checks a component and fills it in; `uses` counts those before it.
absl::Status Accept(const ClusterState& state, bool by_operator, Time now,
                    const SchedulerConfig& config, PolicyUseTable& uses, JobSpec* spec) {
  if (spec->array.has_value()) {
    return absl::InvalidArgumentError("--array: not for a heterogeneous job");
  }
  if (!spec->alternatives.empty()) {
    return absl::InvalidArgumentError("--alt: not for a heterogeneous job");
  }
  if (spec->elastic) {
    return absl::InvalidArgumentError("--elastic: not for a heterogeneous job");
  }
  if (!spec->every.empty()) {
    return absl::InvalidArgumentError("--every: not for a heterogeneous job");
  }
  if (spec->checkpoint_with == CheckpointMeans::kCriu) {
    return absl::InvalidArgumentError("--checkpoint-with=criu: not for a heterogeneous job");
  }
  RETURN_IF_ERROR(CheckTerms(*spec, config));
  RecordChoices(*spec);
  const bool time_said = spec->time_limit.count() > 0;
  RETURN_IF_ERROR(CheckGrace(*spec, config));
  RETURN_IF_ERROR(FillGpuShares(state, *spec));
  RETURN_IF_ERROR(BeginNew({spec->user, by_operator, {}}, config, *spec));
  ASSIGN_OR_RETURN(*spec, Normalise(*spec, config));
  if (!CanMeetDeadline(*spec, std::max(now, spec->begin))) {
    return absl::InvalidArgumentError(
        "--deadline: the job could not end by then, with its --begin and --time");
  }
  RETURN_IF_ERROR(Admit(uses.snapshot(), Submission{1, time_said, now}, spec));
  uses.Submit(*spec, 1);
  return absl::OkStatus();
}

absl::Status In(std::size_t component, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("component ", component, ": ", std::string(status.message())));
}

}  // namespace

absl::StatusOr<JobSubmitted> AcceptGroup(const ClusterState& state, const SubmitJob& command,
                                         Time now, const SchedulerConfig& config) {
  const std::size_t count = command.components.size() + 1;
  if (count > kComponentsMax) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a heterogeneous job of ", count, " components; at most ", kComponentsMax, " are allowed"));
  }
  RETURN_IF_ERROR(CheckUserJobs(state.jobs(), command.spec.user.name, count, config));
  PolicyUseTable uses = state.policy();
  JobSubmitted event{state.next_job(), static_cast<std::uint32_t>(count),
                     command.token,    command.spec,
                     command.program,  now,
                     command.history,  command.components};
  absl::Status status = Accept(state, command.by_operator, now, config, uses, &event.spec);
  status.Update(CheckProgram(event.spec.kind, event.program));
  if (!status.ok()) {
    return In(0, status);
  }
  RETURN_IF_ERROR(CheckDependencyNow(state.jobs(), event.spec, command.history, now));
  for (std::size_t i = 1; i < count; ++i) {
    Component& component = event.components[i - 1];
    TakeOver(event.spec, &component.spec);
    status = Accept(state, command.by_operator, now, config, uses, &component.spec);
    if (event.spec.kind == JobKind::kRun) {
      status.Update(CheckProgram(event.spec.kind, component.program));
    } else {
      component.program = Program();  // the script runs on the first component
    }
    if (!status.ok()) {
      return In(i, status);
    }
  }
  return event;
}

}  // namespace muster::core

#include "scheduler/core/handle/attempts/limit_change.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/core/handle/attempts/checkpoint_handlers.h"
#include "scheduler/core/policy/deadline.h"
#include "scheduler/core/policy/job_access.h"
#include "scheduler/core/policy/job_partition.h"
#include "scheduler/core/policy/limits.h"
#include "scheduler/core/policy/policy_filter.h"
#include "scheduler/core/state/tables/charge.h"
#include "scheduler/core/state/tables/checkpoint_account.h"
#include "scheduler/model/plan/reason.h"

namespace muster::core {
namespace {

// A limit as a length of time: none is the longest.
Duration LengthOf(Duration limit) {
  return limit > Duration(0) && limit < kNoLimit ? limit : Duration::max();
}

std::string LimitRefusal(const Job& job, const std::string& why) {
  return absl::StrCat("job ", ToString(job.id), ": ", why);
}

bool HasGpus(const Attempt& attempt) {
  return std::any_of(attempt.allocation.nodes.begin(), attempt.allocation.nodes.end(),
                     [](const NodeAllocation& part) { return !part.gpus.empty(); });
}

// Its work is safe up to some moment of this attempt: it has made a checkpoint in it, or came back
// from one.
bool HasCheckpoint(const Attempt& attempt) {
  const CheckpointRecord record = CheckpointsOf(attempt);
  return record.count > 0 || record.restart > Duration(0);
}

absl::Status CheckRule(const Job& job, const UpdateJob& command, const SchedulerConfig& config) {
  const ExtensionRule rule = config.checkpoint.extension;
  const bool covered =
      rule == ExtensionRule::kAll || (rule == ExtensionRule::kGpu && HasGpus(*job.attempt));
  if (!covered || command.force || HasCheckpoint(*job.attempt)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(LimitRefusal(
      job, absl::StrCat("has made no checkpoint in this attempt, and ",
                        rule == ExtensionRule::kAll ? "jobs are" : "jobs with GPUs are",
                        " given more time only once they have one (muster-checkpoint(1)); an "
                        "operator may say --force")));
}

bool IsAboutWall(ReasonKind kind) {
  return kind == ReasonKind::kQOSMaxWallDurationPerJobLimit ||
         kind == ReasonKind::kAssocMaxWallDurationPerJobLimit;
}

bool IsAboutBudget(ReasonKind kind) {
  return kind == ReasonKind::kQOSGrpTRESMinutes || kind == ReasonKind::kAssocGrpTRESMinutes ||
         kind == ReasonKind::kQOSGrpWallLimit || kind == ReasonKind::kAssocGrpWallLimit;
}

// What limits of time the job would break with the limit of `longer`: those of one job by all of
// it, budgets by what it is more than the job was counted with.
std::optional<Reason> BrokenLimit(const ClusterState& state, const Job& job,
                                  const JobSpec& longer) {
  const PolicySnapshot& policy = state.policy().snapshot();
  const auto machine_of = [&state](NodeId node) -> const Machine& {
    return *state.FindNode(node)->machine;
  };
  const std::string partition = EffectivePartition(job.attempt->partition);
  const LimitAsk ask = AskOf(longer, partition, job.attempt->allocation, machine_of);
  for (Reason& reason : CheckJobLimits(*policy.site, ask)) {
    if (IsAboutWall(reason.kind)) {
      return std::move(reason);
    }
  }
  JobSpec more = longer;
  more.time_limit = HasLimit(longer) ? longer.time_limit - job.spec->time_limit : Duration(0);
  LimitAsk rest = ask;
  rest.spec = &more;
  for (Reason& reason : CheckLimits(CycleUsage(policy), rest)) {
    if (IsAboutBudget(reason.kind)) {
      return std::move(reason);
    }
  }
  return std::nullopt;
}

absl::Status CheckPolicy(const ClusterState& state, const Job& job, const JobSpec& longer,
                         Time now) {
  const PolicySnapshot& policy = state.policy().snapshot();
  if (policy.site->empty()) {
    return absl::OkStatus();
  }
  const auto refuse = [&](const Reason& reason) {
    return absl::FailedPreconditionError(
        LimitRefusal(job, absl::StrCat(Name(reason.kind), ": ", ToSentence(reason))));
  };
  const std::optional<JobPartition> partition = FindOwn(policy, longer, job.attempt->partition);
  if (partition.has_value()) {
    if (const std::optional<Reason> reason = TimeBlocker(policy, longer, *partition)) {
      return refuse(*reason);
    }
  }
  if (const std::optional<Reason> reason = BrokenLimit(state, job, longer)) {
    return refuse(*reason);
  }
  const Time end = EndBy(longer, CountedFrom(*job.attempt, now));
  for (const NodeAllocation& part : job.attempt->allocation.nodes) {
    if (const auto reserved = ReservationInTheWay(policy, part.node, longer, now, end)) {
      return absl::FailedPreconditionError(LimitRefusal(
          job, absl::StrCat(
                   "would run into reservation ", reserved->name, " on ", part.name, ", which ",
                   reserved->own ? "ends" : "begins", " in ",
                   SecondsText(std::chrono::floor<std::chrono::seconds>(reserved->when - now)))));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckLonger(const ClusterState& state, const Job& job, Duration limit,
                         const UpdateJob& command, Time now, const SchedulerConfig& config) {
  if (!IsOperator(command.by, config) && !config.checkpoint.owners_extend) {
    return absl::PermissionDeniedError(LimitRefusal(
        job, "runs, and only an operator gives a running job more time here (owners_extend)"));
  }
  RETURN_IF_ERROR(CheckRule(job, command, config));
  JobSpec longer = *job.spec;
  longer.time_limit = limit;
  if (!CanMeetDeadline(longer, CountedFrom(*job.attempt, now))) {
    return absl::FailedPreconditionError(LimitRefusal(
        job,
        absl::StrCat("its --deadline ends it in ",
                     SecondsText(std::chrono::floor<std::chrono::seconds>(longer.deadline - now)),
                     " already")));
  }
  return CheckPolicy(state, job, longer, now);
}

}  // namespace

absl::Status CheckNewLimit(const ClusterState& state, const Job& job, Duration limit,
                           const UpdateJob& command, Time now, const SchedulerConfig& config) {
  if (job.attempt->ending != EndCause::kNone) {
    return absl::FailedPreconditionError(
        LimitRefusal(job, "is ending; its time limit cannot change any more"));
  }
  const Duration length = LengthOf(limit);
  const Duration used = now - CountedFrom(*job.attempt, now);
  if (length <= used) {
    return absl::FailedPreconditionError(LimitRefusal(
        job,
        absl::StrCat("has run for ", SecondsText(std::chrono::floor<std::chrono::seconds>(used)),
                     " already; give it more, or end it with muster cancel")));
  }
  return length <= LengthOf(job.spec->time_limit)
             ? absl::OkStatus()
             : CheckLonger(state, job, limit, command, now, config);
}

void TellNewLimit(const Job& job, Duration limit, Time now, Transition& transition) {
  CheckpointAdvice advice = job.attempt->advice;
  advice.time_limit = LengthOf(limit);
  if (!OwesAnswer(advice, CheckpointsOf(*job.attempt))) {
    advice.notice = CheckpointNotice::kNone;
  }
  GiveAdvice(job, advice, now, transition);
}

}  // namespace muster::core

#include "cli/jobs/submit/resubmission.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cli/request/job_changes.h"
#include "cli/request/job_option_table.h"
#include "scheduler/base/status.h"
#include "scheduler/core/handle/changed_options.h"
#include "scheduler/model/job/array.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/model/job/program_check.h"

namespace muster::cli {
namespace {

// Ascending numbers as runs.
std::vector<ArrayRange> RunsOf(const std::vector<std::uint32_t>& elements) {
  std::vector<ArrayRange> runs;
  for (const std::uint32_t element : elements) {
    if (!runs.empty() && runs.back().last + 1 == element) {
      runs.back().last = element;
    } else {
      runs.push_back(ArrayRange{element, element, 1});
    }
  }
  return runs;
}

void Renew(Time now, JobSpec* spec) {
  std::erase_if(spec->dependency.terms,
                [](const DependencyTerm& term) { return term.kind != DependencyKind::kSingleton; });
  spec->held = false;
  spec->begin = spec->begin <= now ? kNoTime : spec->begin;
  spec->deadline = spec->deadline <= now ? kNoTime : spec->deadline;
}

// Options that say what the verb does and nothing of the job.
bool IsOfTheVerb(const std::string& name) {
  constexpr std::array kNames = {"hold", "parsable", "test-only", "wait"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

absl::Status CheckScript(const Submission& submission) {
  const std::uint64_t job = submission.first.value();
  if (submission.spec.kind != JobKind::kBatch || !submission.program.io.address.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", job, ": has no script; run its command again"));
  }
  return submission.program.script.empty()
             ? absl::FailedPreconditionError(
                   absl::StrCat("job ", job,
                                ": its script was erased when it ended; submit the script, or have "
                                "[retention] keep_script = true keep the next ones"))
             : absl::OkStatus();
}

}  // namespace

std::vector<std::uint32_t> FailedOf(const std::vector<JobView>& jobs) {
  std::vector<std::uint32_t> failed;
  for (const JobView& job : jobs) {
    if (!IsTerminal(job.state) || IsSuccess(job.state)) {
      continue;
    }
    std::uint32_t element = 0;
    if (!job.indices.empty()) {
      ForEachElement(ArraySpec{job.indices}, [&](std::uint32_t i) { failed.push_back(i); });
    } else if (job.array_task_id.empty() || absl::SimpleAtoi(job.array_task_id, &element)) {
      failed.push_back(element);
    }
  }
  std::sort(failed.begin(), failed.end());
  failed.erase(std::unique(failed.begin(), failed.end()), failed.end());
  return failed;
}

absl::StatusOr<JobRequest> RequestAgain(const Submission& submission,
                                        const std::vector<std::uint32_t>& elements, Time now) {
  RETURN_IF_ERROR(CheckScript(submission));
  JobRequest request;
  request.spec = submission.spec;
  request.program = submission.program;
  request.components = submission.components;
  Renew(now, &request.spec);
  for (Component& component : request.components) {
    Renew(now, &component.spec);
  }
  if (elements.empty()) {
    return request;
  }
  if (!request.spec.array.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("job ", submission.first.value(), ": is no array; name it alone"));
  }
  for (const std::uint32_t element : elements) {
    if (!OrdinalOf(*request.spec.array, element).has_value()) {
      return absl::NotFoundError(
          absl::StrCat("job ", submission.first.value(), ": has no element ", element));
    }
  }
  request.spec.array->ranges = RunsOf(elements);
  return request;
}

absl::Status ChangeRequest(const std::map<std::string, std::string>& values,
                           const ParseContext& context, JobRequest* request) {
  const std::vector<Option> changeable = ChangeOptions();
  std::map<std::string, std::string> changed;
  for (const auto& [name, value] : values) {
    const bool changes =
        std::any_of(changeable.begin(), changeable.end(),
                    [&name = name](const Option& option) { return option.name == name; });
    if (!changes && FindJobOption(name) != nullptr && !IsOfTheVerb(name)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", name, ": is not changed with --like; submit the script with it"));
    }
    if (changes) {
      changed.insert({name, value});
    }
  }
  if (changed.empty()) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const JobUpdate update, ReadJobChanges(std::move(changed), context));
  JobSpec& spec = request->spec;
  const auto take = [](const auto& change, auto& member) {
    member = change.has_value() ? *change : member;
  };
  take(update.name, spec.name);
  take(update.comment, spec.comment);
  take(update.time_limit, spec.time_limit);
  take(update.nice, spec.nice);
  take(update.begin, spec.begin);
  take(update.deadline, spec.deadline);
  take(update.dependency, spec.dependency);
  RETURN_IF_ERROR(core::TakeOptions(update, spec.user, SchedulerConfig(), spec));
  SetPaths(std::exchange(spec.paths, {}), request->program);
  return absl::OkStatus();
}

}  // namespace muster::cli

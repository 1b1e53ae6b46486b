#include "cli/jobs/submit/staged_submission.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/frame/own_command.h"
#include "cli/page/shell_words.h"
#include "cli/parse/request/dependency.h"
#include "cli/request/request.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

constexpr const char* kStageIn = "stage-in";
constexpr const char* kStageOut = "stage-out";
constexpr Bytes kStageMemory = Bytes(std::uint64_t{1} << 30);
constexpr std::size_t kStageNameMax = 200;

std::string NameOf(const char* what, const std::string& job) {
  std::string name = absl::StrCat(what, " of ", job);
  return name.size() <= kStageNameMax ? name : what;
}

// The muster that the nodes run; Slurm's commands are in a program beside it.
absl::StatusOr<std::string> CopyingProgram() {
  ASSIGN_OR_RETURN(const std::string self, OwnProgram());
  const std::string folder = self.substr(0, self.rfind('/') + 1);
  return self == folder + "muster-slurm" ? folder + "muster" : self;
}

// What both have of the job: whose account pays, where it runs, and the environment, in which
// rclone finds its configuration.
JobRequest CopyJob(const JobRequest& request, const char* what, std::vector<std::string> command,
                   const std::vector<StagePair>& pairs) {
  JobRequest copy;
  copy.spec.name = NameOf(what, request.spec.name);
  copy.spec.account = request.spec.account;
  copy.spec.partition = request.spec.partition;
  copy.spec.qos = request.spec.qos;
  copy.spec.request.memory_per_node = kStageMemory;
  copy.spec.requeue = Choice::kYes;  // it takes up its work where it was
  copy.program.work_dir = request.program.work_dir;
  copy.program.environment =
      request.copy_environment.empty() ? request.program.environment : request.copy_environment;
  copy.program.umask = request.program.umask;
  command.emplace_back("--");
  for (const StagePair& pair : pairs) {
    command.push_back(pair.from);
    command.push_back(pair.to);
  }
  copy.program.script = absl::StrCat("#!/bin/sh\n# Made by muster submit --", what, ".\nexec ",
                                     ShellWords(command), "\n");
  return copy;
}

// Held until the others were taken. It waits for what the job waits for: what others make is not
// there before they have ended.
JobRequest StageInOf(const JobRequest& request, const std::string& program) {
  JobRequest copy = CopyJob(request, kStageIn, {program, "stage"}, request.program.stage_in);
  copy.spec.comment = absl::StrCat("copies the files that ", request.spec.name, " waits for");
  copy.spec.dependency = request.spec.dependency;
  std::erase_if(copy.spec.dependency.terms, [](const DependencyTerm& term) {
    return term.kind == DependencyKind::kSingleton;  // of the job's name
  });
  copy.spec.kill_on_invalid_dep = request.spec.kill_on_invalid_dep;
  copy.spec.held = true;
  return copy;
}

JobRequest StageOutOf(const JobRequest& request, const std::string& program, JobId job) {
  JobRequest copy =
      CopyJob(request, kStageOut, {program, "stage", absl::StrCat("--after=", job.value())},
              request.program.stage_out);
  copy.spec.comment = absl::StrCat("copies what job ", job.value(), " leaves");
  copy.spec.dependency.terms = {{DependencyKind::kAfterAny, job, std::nullopt, Duration(0)}};
  return copy;
}

// One of several would be enough for the job, and is then for its stage-in, after which it comes.
void WaitFor(JobId stage_in, JobSpec* spec) {
  if (spec->dependency.any) {
    spec->dependency = {};
  }
  spec->dependency.terms.push_back({DependencyKind::kAfterOk, stage_in, std::nullopt, Duration(0)});
}

absl::Status Prefixed(const std::string& what, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(what, ": ", std::string(status.message())));
}

// Submissions in order, which are taken back together.
class Submitting {
 public:
  explicit Submitting(const StagingCalls& calls) : calls_(calls) {}

  absl::StatusOr<JobId> Submit(const JobRequest& request, StagedJobs* staged) {
    const absl::StatusOr<Submitted> submitted = calls_.submit(request);
    if (!submitted.ok()) {
      return submitted.status();
    }
    if (!submitted->remark.empty()) {
      staged->remarks.push_back(*submitted);
    }
    made_.push_back(submitted->job);
    return submitted->job;
  }

  absl::Status TakeBack(const absl::Status& why) const {
    const absl::Status cancelled = made_.empty() ? absl::OkStatus() : calls_.cancel(made_);
    return cancelled.ok()
               ? why
               : absl::Status(why.code(),
                              absl::StrCat(std::string(why.message()),
                                           "; what is left of it: muster cancel ", Numbers()));
  }

  [[nodiscard]] std::string Numbers() const {
    return absl::StrJoin(made_, " ",
                         [](std::string* text, JobId job) { absl::StrAppend(text, job.value()); });
  }

 private:
  const StagingCalls& calls_;
  std::vector<JobId> made_;
};

// The ids that the dependency wants to end well.
std::vector<JobId> AwaitedWell(const JobView& job) {
  std::vector<JobId> awaited;
  const absl::StatusOr<Dependency> dependency = ParseDependency(job.dependency);
  if (job.dependency.empty() || !dependency.ok()) {
    return awaited;
  }
  for (const DependencyTerm& term : dependency->terms) {
    if (term.kind == DependencyKind::kAfterOk) {
      awaited.push_back(term.job);
    }
  }
  return awaited;
}

// The live jobs that were made to copy files in for one of these.
absl::StatusOr<std::set<JobId>> AwaitedStageIns(Connection& connection,
                                                const std::vector<JobView>& jobs) {
  ListJobs awaited;
  std::set<std::pair<std::string, std::string>> names;  // with their users
  for (const JobView& job : jobs) {
    const std::vector<JobId> own = AwaitedWell(job);
    awaited.jobs.insert(awaited.jobs.end(), own.begin(), own.end());
    names.insert({job.user, NameOf(kStageIn, job.name)});
  }
  std::set<JobId> stage_ins;
  if (awaited.jobs.empty()) {
    return stage_ins;
  }
  ASSIGN_OR_RETURN(const std::vector<JobView> found, connection.Call(awaited));
  for (const JobView& job : found) {
    if (names.contains({job.user, job.name})) {
      stage_ins.insert(job.id);
    }
  }
  return stage_ins;
}

}  // namespace

StagingCalls CallsOf(Connection& connection, bool refuse_misfit) {
  const auto all_done = [](const absl::StatusOr<ChangeOutcome>& outcome) {
    RETURN_IF_ERROR(outcome.status());
    return outcome->errors.empty() ? absl::OkStatus()
                                   : absl::FailedPreconditionError(outcome->errors.front());
  };
  return {
      .submit = [&connection,
                 refuse_misfit](const JobRequest& request) -> absl::StatusOr<Submitted> {
        ASSIGN_OR_RETURN(const std::string token, MakeToken());
        return connection.Call(
            SubmitJob{token, request.spec, request.program, {}, request.components, refuse_misfit});
      },
      .release =
          [&connection, all_done](JobId job) {
            return all_done(
                connection.Call(ForJobs<HoldJob>{HoldJob{.held = false}, {{.job = job}}}));
          },
      .cancel =
          [&connection, all_done](const std::vector<JobId>& jobs) {
            CancelJobs cancel;
            for (const JobId job : jobs) {
              cancel.jobs.push_back({.job = job});
            }
            return all_done(connection.Call(cancel));
          },
  };
}

bool HasCopies(const JobRequest& request) {
  return !request.program.stage_in.empty() || !request.program.stage_out.empty();
}

absl::Status CheckStaging(const JobRequest& request) {
  const JobSpec& spec = request.spec;
  if (!HasCopies(request)) {
    return absl::OkStatus();
  }
  const char* option = request.program.stage_in.empty() ? kStageOut : kStageIn;
  if (!spec.every.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--", option, ": is done once, and --every runs again: have the script run muster stage"));
  }
  if (!request.program.stage_in.empty() && spec.dependency.any && IsSingleton(spec.dependency)) {
    return absl::InvalidArgumentError(
        "--stage-in: does not go with singleton among several of which one is enough: join the "
        "dependencies with , instead of ?");
  }
  return absl::OkStatus();
}

absl::StatusOr<StagedJobs> SubmitStaged(const StagingCalls& calls, const std::string& program,
                                        JobRequest request) {
  StagedJobs staged;
  Submitting submitting(calls);
  const bool stays_held = request.spec.held;
  if (!request.program.stage_in.empty()) {
    const auto stage_in = submitting.Submit(StageInOf(request, program), &staged);
    if (!stage_in.ok()) {
      return Prefixed("its stage-in job", stage_in.status());
    }
    staged.stage_in = *stage_in;
    WaitFor(*stage_in, &request.spec);
  } else {
    request.spec.held = true;
  }
  if (request.wait && request.spec.kill_on_invalid_dep == Choice::kUnsaid) {
    request.spec.kill_on_invalid_dep = Choice::kYes;  // who waits wants to be told
  }
  const auto job = submitting.Submit(request, &staged);
  if (!job.ok()) {
    return submitting.TakeBack(job.status());
  }
  staged.job = *job;
  if (!request.program.stage_out.empty()) {
    const auto stage_out = submitting.Submit(StageOutOf(request, program, *job), &staged);
    if (!stage_out.ok()) {
      return submitting.TakeBack(Prefixed("its stage-out job", stage_out.status()));
    }
    staged.stage_out = *stage_out;
  }
  const JobId waits = staged.stage_in.valid() ? staged.stage_in : staged.job;
  if (staged.stage_in.valid() || !stays_held) {
    if (const absl::Status released = calls.release(waits); !released.ok()) {
      return absl::Status(
          released.code(),
          absl::StrCat(std::string(released.message()), "; jobs ", submitting.Numbers(),
                       " are submitted, and wait for: muster release ", waits.value()));
    }
  }
  return staged;
}

absl::StatusOr<StagedJobs> SubmitWithCopies(Connection& connection, const std::string& token,
                                            const JobRequest& request, bool refuse_misfit) {
  if (HasCopies(request)) {
    RETURN_IF_ERROR(CheckStaging(request));
    ASSIGN_OR_RETURN(const std::string program, CopyingProgram());
    return SubmitStaged(CallsOf(connection, refuse_misfit), program, request);
  }
  ASSIGN_OR_RETURN(
      Submitted submitted,
      connection.Call(
          SubmitJob{token, request.spec, request.program, {}, request.components, refuse_misfit}));
  StagedJobs alone{.job = submitted.job};
  if (!submitted.remark.empty()) {
    alone.remarks.push_back(std::move(submitted));
  }
  return alone;
}

void TellCopies(const std::string& speaker, const StagedJobs& submitted) {
  for (const auto& [copies, where] :
       {std::pair(submitted.stage_in, "in"), std::pair(submitted.stage_out, "out")}) {
    if (copies.valid() && isatty(STDERR_FILENO) != 0) {
      std::cerr << speaker << ": job " << copies.value() << " copies its files " << where
                << std::endl;
    }
  }
}

void TakeStageInsAlong(Connection& connection, std::vector<JobSelector>* jobs) {
  ListJobs named;
  named.fold = true;
  for (const JobSelector& job : *jobs) {
    if (job.elements.empty() && !job.component.has_value()) {
      named.jobs.push_back(job.job);
    }
  }
  if (named.jobs.empty()) {
    return;
  }
  const absl::StatusOr<std::vector<JobView>> leaving = connection.Call(named);
  const absl::StatusOr<std::set<JobId>> stage_ins =
      leaving.ok() ? AwaitedStageIns(connection, *leaving) : leaving.status();
  if (!stage_ins.ok() || stage_ins->empty()) {
    return;
  }
  const absl::StatusOr<std::vector<JobView>> all =
      connection.Call(ListJobs{{.fold = true}, 0, true});
  if (!all.ok()) {
    return;
  }
  std::set<JobId> alone = *stage_ins;
  const std::set<JobId> leave(named.jobs.begin(), named.jobs.end());
  for (const JobView& job : *all) {
    if (!leave.contains(job.id) && !leave.contains(job.array_job_id) &&
        !leave.contains(job.het_job)) {
      for (const JobId awaited : AwaitedWell(job)) {
        alone.erase(awaited);
      }
    }
  }
  for (const JobId job : alone) {
    jobs->push_back({.job = job});
  }
}

absl::Status CancelWithStageIns(Connection& connection, JobId job) {
  CancelJobs cancel{{{.job = job}}};
  TakeStageInsAlong(connection, &cancel.jobs);
  return connection.Call(cancel).status();
}

}  // namespace muster::cli

#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/controller/query/job_query.h"
#include "cli/controller/query/newest_job.h"
#include "cli/frame/verbs.h"
#include "cli/jobs/submit/staged_submission.h"
#include "cli/parse/selector.h"
#include "cli/parse/signal.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

// What the arguments name: whole jobs, which go in one request, and steps, which go in one each.
struct Named {
  std::vector<std::string> jobs;
  std::vector<StepSelector> steps;
};

absl::StatusOr<Named> ReadNames(const Invocation& invocation) {
  Named named;
  ASSIGN_OR_RETURN(const std::vector<std::string> names, WithNumbers(invocation));
  for (const std::string& text : names) {
    if (text.find('.') == std::string::npos) {
      named.jobs.push_back(text);
      continue;
    }
    ASSIGN_OR_RETURN(StepSelector step, ParseStepSelector(text));
    named.steps.push_back(std::move(step));
  }
  return named;
}

absl::StatusOr<SignalScope> ReadScope(const Invocation& invocation) {
  const bool batch = invocation.Has("batch");
  const bool full = invocation.Has("full");
  if ((batch || full) && !invocation.Has("signal")) {
    return absl::InvalidArgumentError(
        "--batch, --full: say whom --signal is for; without one the whole job ends");
  }
  if (batch && full) {
    return absl::InvalidArgumentError("--batch, --full: give one of them");
  }
  return batch ? SignalScope::kBatch : full ? SignalScope::kFull : SignalScope::kSteps;
}

void Add(ChangeOutcome more, ChangeOutcome* all) {
  all->changed += more.changed;
  all->errors.insert(all->errors.end(), more.errors.begin(), more.errors.end());
}

// The live jobs that the options choose, of those named if any are. Who names no user means his
// own jobs; root means everybody's.
absl::StatusOr<std::vector<JobSelector>> Pick(Connection& connection, JobQuery query) {
  if (query.choice.users.empty() && query.selectors.empty() && geteuid() != 0) {
    query.choice.users = {absl::StrCat(geteuid())};
  }
  ASSIGN_OR_RETURN(std::vector<JobView> live, connection.Call(ListJobs{query.filter}));
  std::vector<JobSelector> picked;
  for (const JobView& job : Chosen(query, std::move(live))) {
    ASSIGN_OR_RETURN(JobSelector selector, ParseSelector(job.label));
    picked.push_back(std::move(selector));
  }
  return picked;
}

absl::StatusOr<int> Cancel(const Invocation& given) {
  Invocation invocation = given;
  const bool all = invocation.Has("all");
  ASSIGN_OR_RETURN(const Named named, ReadNames(invocation));
  ASSIGN_OR_RETURN(std::vector<JobSelector> jobs, ParseWholeJobs(named.jobs));
  invocation.arguments = named.jobs;
  ASSIGN_OR_RETURN(const JobQuery query, ReadJobQuery(invocation));
  if (query.narrows() ? all || !named.steps.empty() : all == !given.arguments.empty()) {
    return absl::InvalidArgumentError(
        "name jobs, like 12, 12_[3-5], [12-40] or 12.1, or choose them by options like --name, or "
        "give "
        "--all");
  }
  ASSIGN_OR_RETURN(const SignalScope scope, ReadScope(invocation));
  std::uint32_t signal = 0;
  if (invocation.Has("signal")) {
    ASSIGN_OR_RETURN(signal, ParseSignal(invocation.Value("signal")));
    if (all) {
      return absl::InvalidArgumentError("--signal: name the jobs; --all ends them");
    }
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  if (query.narrows()) {
    ASSIGN_OR_RETURN(jobs, Pick(*connection, query));
  }
  ChangeOutcome outcome;
  if (all || !jobs.empty()) {
    if (!all && signal == 0) {
      TakeStageInsAlong(*connection, &jobs);
    }
    ASSIGN_OR_RETURN(
        outcome,
        signal == 0
            ? absl::StatusOr<ChangeOutcome>(connection->Call(CancelJobs{jobs, all}))
            : connection->Call(ForJobs<SignalJob>{{.signal = signal, .scope = scope}, jobs}));
  }
  for (const StepSelector& step : named.steps) {
    ASSIGN_OR_RETURN(ChangeOutcome one, connection->Call(ForJobs<SignalJob>{
                                            {.step = step.step, .signal = signal}, {step.job}}));
    Add(std::move(one), &outcome);
  }
  return ReportChange("cancel", outcome);
}

}  // namespace

Verb CancelVerb() {
  Verb verb;
  verb.name = "cancel";
  verb.purpose = "End jobs and steps, by SIGTERM and then SIGKILL, or send them a signal";
  verb.synopsis = "[JOB[.STEP]…] | --all";
  verb.examples = {"muster cancel 12 14_[0-9]", "muster cancel 12.1",
                   "muster cancel --signal USR1 --batch 12",
                   "muster cancel --me --states PENDING --name train"};
  verb.options = {
      {.name = "all", .letter = 0, .metavar = "", .text = "All of your own jobs"},
      {.name = "signal",
       .letter = 's',
       .metavar = "SIGNAL",
       .text = "Send this instead: to the ranks of all steps, and not to the batch script"},
      {.name = "batch",
       .letter = 'b',
       .metavar = "",
       .text = "The signal is for the batch script's own process alone"},
      {.name = "full",
       .letter = 'f',
       .metavar = "",
       .text = "The signal is for the batch script, what it has started, and all steps"}};
  for (const Option& option : JobChoiceOptions()) {
    verb.options.push_back(option);
  }
  verb.arguments_max = kAnyNumber;
  verb.run = Cancel;
  return verb;
}

}  // namespace muster::cli

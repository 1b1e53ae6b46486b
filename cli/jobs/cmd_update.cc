#include "cli/controller/controller.h"
#include "cli/frame/verbs.h"
#include "cli/parse/selector.h"
#include "cli/request/job_options.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

// What takes a dependency away again.
constexpr const char* kNoDependency = "none";

absl::StatusOr<JobUpdate> ReadChanges(const Invocation& invocation) {
  const Moment moment{.now = SystemClock().Now(), .zone = absl::LocalTimeZone()};
  std::map<std::string, std::string> values = invocation.values;
  const bool frees = invocation.Value("dependency") == kNoDependency;
  if (frees) {
    values.erase("dependency");
  }
  ASSIGN_OR_RETURN(JobRequest request, ReadJobOptions(values, {}, JobVerb::kSubmit, moment));
  JobUpdate changes;
  const auto set = [&invocation](const char* option, auto& change, auto& value) {
    if (invocation.Has(option)) {
      change = std::move(value);
    }
  };
  set("job-name", changes.name, request.spec.name);
  set("comment", changes.comment, request.spec.comment);
  set("time", changes.time_limit, request.spec.time_limit);
  set("nice", changes.nice, request.spec.nice);
  set("begin", changes.begin, request.spec.begin);
  set("deadline", changes.deadline, request.spec.deadline);
  set("dependency", changes.dependency, request.spec.dependency);
  if (changes == JobUpdate()) {
    return absl::InvalidArgumentError("nothing to change: give an option like --time");
  }
  return changes;
}

absl::StatusOr<int> Update(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const std::vector<JobSelector> jobs, ParseWholeJobs(invocation.arguments));
  ASSIGN_OR_RETURN(const JobUpdate changes, ReadChanges(invocation));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  ASSIGN_OR_RETURN(const ChangeOutcome outcome,
                   connection->Call(ForJobs<UpdateJob>{
                       {.changes = changes, .force = invocation.Has("force")}, jobs}));
  return ReportChange("update", outcome);
}

Option Changes(const char* name, char letter, const char* metavar, const char* text) {
  return {.name = name, .letter = letter, .metavar = metavar, .text = text};
}

}  // namespace

Verb UpdateVerb() {
  Verb verb;
  verb.name = "update";
  verb.purpose = "Change what jobs ask for: their time, place in the queue, dependency, name";
  verb.synopsis = "JOB…";
  verb.examples = {"muster update 12 --time 2:00:00", "muster update 12_[3-5] --nice 100",
                   "muster update 12 --dependency none"};
  verb.remarks =
      "A job that has started takes --job-name, --comment and --time: its owner may shorten it; "
      "the controller's [checkpoint] configuration says who may give it more, and when.";
  verb.options = {
      Changes("time", 't', "LIMIT", "Time limit: minutes, HH:MM:SS, D-HH:MM or UNLIMITED"),
      Changes("nice", 0, "N", "Lower the priority"),
      Changes("begin", 'b', "TIME", "Not before: now+1hour, 16:30, 2030-01-31T08:00"),
      Changes("deadline", 0, "TIME", "Not past this; a job that cannot end by then is not started"),
      Changes("dependency", 'd', "LIST", "After other jobs, as in submit; none takes it away"),
      Changes("job-name", 'J', "NAME", "The job's name"),
      Changes("comment", 0, "TEXT", "A remark, kept with the job"),
      Changes("force", 0, "", "Operators: more time also to a running job without a checkpoint"),
  };
  verb.arguments_min = 1;
  verb.arguments_max = kAnyNumber;
  verb.run = Update;
  return verb;
}

}  // namespace muster::cli

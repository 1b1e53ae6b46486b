#include "cli/controller/controller.h"
#include "cli/controller/query/newest_job.h"
#include "cli/frame/verbs.h"
#include "cli/parse/selector.h"
#include "cli/request/job_changes.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

absl::StatusOr<JobUpdate> ReadChanges(const Invocation& invocation) {
  const ParseContext context{.now = SystemClock().Now(), .zone = absl::LocalTimeZone()};
  return ReadJobChanges(invocation.values, context);
}

absl::StatusOr<int> Update(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, WithNumbers(invocation));
  ASSIGN_OR_RETURN(const std::vector<JobSelector> jobs, ParseWholeJobs(names));
  ASSIGN_OR_RETURN(const JobUpdate changes, ReadChanges(invocation));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  ASSIGN_OR_RETURN(const ChangeOutcome outcome,
                   connection->Call(ForJobs<UpdateJob>{
                       {.changes = changes, .force = invocation.Has("force")}, jobs}));
  return ReportChange("update", outcome);
}

}  // namespace

Verb UpdateVerb() {
  Verb verb;
  verb.name = "update";
  verb.purpose = "Change what jobs ask for: their size, time, place in the queue, dependency, name";
  verb.synopsis = "JOB…";
  verb.examples = {"muster update 12 --time 2:00:00", "muster update 12_[3-5] --nice 100",
                   "muster update 12 --dependency none",
                   "muster update 12 --partition gpu --mem 8G",
                   "muster update 12 --array-throttle 4"};
  verb.remarks =
      "A job that waits takes all of the options; an empty value takes away what one gave, as in "
      "--constraint=''. A job that has started takes --job-name, --comment, --requeue, "
      "--array-throttle and --time: its owner may shorten it; "
      "the controller's [checkpoint] configuration says who may give it more, and when.";
  verb.options = ChangeOptions();
  verb.options.push_back(
      {.name = "force",
       .letter = 0,
       .metavar = "",
       .text = "Operators: more time also to a running job without a checkpoint"});
  verb.arguments_min = 1;
  verb.arguments_max = kAnyNumber;
  verb.run = Update;
  return verb;
}

}  // namespace muster::cli

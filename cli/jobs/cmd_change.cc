// hold, release, requeue and suspend: one request for the jobs that are named, and what became of
// it.

#include <memory>
#include <string>
#include <vector>

#include "cli/controller/controller.h"
#include "cli/controller/query/newest_job.h"
#include "cli/frame/verbs.h"
#include "cli/parse/selector.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

using ParseJobs = absl::StatusOr<std::vector<JobSelector>> (*)(const std::vector<std::string>&);

// Sends `each` for every job of the arguments.
template <class Each>
absl::StatusOr<int> Change(const char* verb, const Invocation& invocation, ParseJobs parse,
                           const Each& each) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, WithNumbers(invocation));
  ASSIGN_OR_RETURN(const std::vector<JobSelector> jobs, parse(names));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  ASSIGN_OR_RETURN(const ChangeOutcome outcome, connection->Call(ForJobs<Each>{each, jobs}));
  return ReportChange(verb, outcome);
}

Verb ChangeVerb(const std::string& name, const char* purpose,
                absl::StatusOr<int> (*run)(const Invocation&)) {
  Verb verb;
  verb.name = name;
  verb.purpose = purpose;
  verb.synopsis = "JOB…";
  verb.examples = {"muster " + name + " 12", "muster " + name + " 12_[3-5]"};
  verb.arguments_min = 1;
  verb.arguments_max = kAnyNumber;
  verb.run = run;
  return verb;
}

}  // namespace

Verb HoldVerb() {
  return ChangeVerb("hold", "Keep pending jobs from starting until they are released",
                    [](const Invocation& invocation) {
                      return Change("hold", invocation, ParseWholeJobs, HoldJob{.held = true});
                    });
}

Verb ReleaseVerb() {
  return ChangeVerb("release", "Let held jobs start", [](const Invocation& invocation) {
    return Change("release", invocation, ParseWholeJobs, HoldJob{.held = false});
  });
}

Verb RequeueVerb() {
  Verb verb =
      ChangeVerb("requeue", "End the attempts of batch jobs and send the jobs back to the queue",
                 [](const Invocation& invocation) {
                   return Change("requeue", invocation, ParseWholeJobs, RequeueJob{});
                 });
  verb.remarks =
      "The job keeps its number and its place; its next attempt begins again. One that is "
      "requeued\n"
      "more often than the controller allows (policy.requeues_max, 5 unless set) is held.\n"
      "Refused for jobs that were submitted with --no-requeue.";
  return verb;
}

Verb SuspendVerb() {
  Verb verb = ChangeVerb("suspend", "Take running jobs off their cores until they are resumed",
                         [](const Invocation& invocation) {
                           return Change("suspend", invocation, ParseSelectors,
                                         SuspendJob{.suspended = true});
                         });
  verb.remarks =
      "The job's processes are frozen. It keeps its memory, its GPUs and its licences; others may\n"
      "have its cores, which it gets back after muster resume as soon as they are free. The time\n"
      "counts neither against its limit nor as usage. Only operators suspend jobs.";
  return verb;
}

}  // namespace muster::cli

#include <unistd.h>

#include <csignal>
#include <iostream>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/controller/query/newest_job.h"
#include "cli/drill/drill_page.h"
#include "cli/drill/drill_request.h"
#include "cli/drill/drill_run.h"
#include "cli/drill/drill_verdict.h"
#include "cli/drill/drilled_checkpoint.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/frame/verbs.h"
#include "cli/parse/selector.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/program/child_end.h"
#include "scheduler/runtime/signals.h"

namespace muster::cli {
namespace {

constexpr int kExitOfInterrupt = kShellSignalBase + SIGINT;

absl::Status OfJob(const std::string& label, const std::string& why) {
  return absl::FailedPreconditionError(absl::StrCat("job ", label, ": ", why));
}

// Everything that can be refused is, before anything is submitted.
absl::StatusOr<DrillSubject> FindSubject(Connection& connection, const JobSelector& selector,
                                         const DrillOptions& options) {
  ASSIGN_OR_RETURN(std::vector<JobDetail> found,
                   connection.Call(ShowJob{.job = selector, .ranks_limit = 1}));
  if (found.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "job ", selector.job.value(), ": is ", found.size(), " jobs: name one element, as ",
        found.empty() ? absl::StrCat(selector.job.value(), "_0") : found.front().job.label));
  }
  DrillSubject subject{.selector = selector, .job = std::move(found.front())};
  const std::string& label = subject.job.job.label;
  subject.directory = CheckpointsOf(subject.job, options);
  if (subject.job.job.uid != geteuid()) {  // whose submission only they may read
    return OfJob(label, WhyNoDrill(subject.job, {}, geteuid(), subject.directory));
  }
  ASSIGN_OR_RETURN(subject.submission, connection.Call(ReadSubmission{selector.job}));
  RETURN_IF_ERROR(MakeDrillRequest(subject.submission, selector.elements, options,
                                   {.original = label}, SystemClock().Now())
                      .status());
  if (const std::string why =
          WhyNoDrill(subject.job, subject.submission, geteuid(), subject.directory);
      !why.empty()) {
    return OfJob(label, why);
  }
  auto store = checkpoint::Store::Open(checkpoint::Disk::Real(), subject.directory);
  if (!store.ok()) {
    return OfJob(label, absl::StrCat("no checkpoints: ", store.error.text,
                                     ": a program keeps them in $MUSTER_CHECKPOINT_DIR; where it "
                                     "has them elsewhere, name the directory: --from DIR"));
  }
  subject.store = std::move(store.value);
  absl::StatusOr<DrilledGeneration> generation =
      ChooseGeneration(subject.store, absl::StrCat(subject.job.job.id.value()), options.generation);
  if (!generation.ok()) {
    return OfJob(label, std::string(generation.status().message()));
  }
  subject.generation = *std::move(generation);
  return subject;
}

absl::StatusOr<int> TellDrill(const Invocation& invocation, const DrillOptions& options,
                              const DrillFacts& facts) {
  const DrillVerdict verdict = JudgeDrill(facts, options.exact);
  RETURN_IF_ERROR(WriteOut(
      options.json ? PrintJson(DrillDocument(facts, verdict))
                   : DrillPage(facts, verdict, StyleFor(invocation.environment, STDOUT_FILENO))));
  if (facts.interrupted) {
    return kExitOfInterrupt;
  }
  return verdict.outcome == DrillOutcome::kRecovered ? 0 : 1;
}

absl::StatusOr<int> Drill(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const DrillOptions options, ReadDrillOptions(invocation));
  ASSIGN_OR_RETURN(const UniqueFd signals, BlockSignals({SIGINT, SIGTERM, SIGHUP}));
  ASSIGN_OR_RETURN(const Address address, AddressOf(invocation));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, WithNumbers(invocation));
  ASSIGN_OR_RETURN(const JobSelector selector, ParseSelector(names.front()));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(address));
  ASSIGN_OR_RETURN(DrillSubject subject, FindSubject(*connection, selector, options));
  const bool damaged = !subject.generation.fault.empty();
  DrillRun run({*connection, invocation, signals, IsLocal(address)}, options, std::move(subject));
  if (damaged) {  // no job can go on from it: there is nothing to try
    return TellDrill(invocation, options, run.facts());
  }
  absl::Status status = run.Begin();
  if (status.ok()) {
    status = run.Watch();
  }
  const absl::Status ended = run.End();
  if (!status.ok()) {
    if (!ended.ok()) {
      std::cerr << "muster drill: " << ended.message() << std::endl;
    }
    return status;
  }
  ASSIGN_OR_RETURN(const int code, TellDrill(invocation, options, run.facts()));
  RETURN_IF_ERROR(ended);
  return code;
}

}  // namespace

Verb DrillVerb() {
  Verb verb;
  verb.name = "drill";
  verb.purpose = "Restart a job from a copy of its checkpoint beside the run, and compare";
  verb.synopsis = "JOB";
  verb.examples = {"muster drill 12", "muster drill train --timeout 20m --partition debug",
                   "muster drill 12 --exact --json", "muster drill 12 --generation 34 --keep"};
  verb.remarks =
      "The job, which may run on or have ended, is not disturbed: the drill is a job of its own,\n"
      "submitted as JOB was but for the options given, with a copy of JOB's newest complete\n"
      "checkpoint in a directory of its own. At its next checkpoint, compared with JOB's, it is\n"
      "ended, and its directory removed. Exit status 0: recovery worked; 1: it did not, or that\n"
      "is not proven. Its program runs in JOB's working directory, and finds JOB's number in\n"
      "$DRILL_OF_JOB: what else than checkpoints it writes, it writes as JOB does.";
  verb.options = DrillOptionTable();
  verb.arguments_min = 1;
  verb.arguments_max = 1;
  verb.run = Drill;
  return verb;
}

}  // namespace muster::cli

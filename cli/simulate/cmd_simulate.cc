#include <unistd.h>

#include <csignal>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "cli/frame/output.h"
#include "cli/frame/result_file.h"
#include "cli/frame/verbs.h"
#include "cli/simulate/row_taker.h"
#include "cli/simulate/simulate_options.h"
#include "cli/simulate/simulate_report.h"
#include "cli/simulate/simulation_identity.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/program/child_end.h"
#include "scheduler/runtime/signals.h"
#include "scheduler/simulator/decision_log.h"
#include "scheduler/simulator/flat/policy_names.h"
#include "scheduler/simulator/report/schedule_html.h"
#include "scheduler/simulator/report/schedule_perfetto.h"

namespace muster::cli {
namespace {

constexpr int kInterrupted = kShellSignalBase + SIGINT;

absl::Status WriteSummary(const SimulateOptions& options, const SimulateOutcome& outcome) {
  if (options.summary_json.empty()) {
    return absl::OkStatus();
  }
  return WriteResult(options.summary_json, SimulationDocument(options, outcome));
}

absl::Status WritePictures(const SimulateOptions& options, const SimulateOutcome& outcome,
                           const sim::DrawnJobs& drawn) {
  const sim::FlatResult& result = outcome.result;
  const std::string partial = result.complete ? "" : PartialSentence(result);
  if (!options.html.empty()) {
    sim::ScheduleReport report{
        .title = absl::StrCat("Schedule of ", options.run.trace, " under ", options.policy),
        .subtitle = absl::StrCat(
            result.ended, " jobs on ", result.processors,
            options.cluster.has_value() ? " hardware threads" : " identical processors",
            "; estimates ", Name(options.run.estimates)),
        .partial = partial,
        .processors = result.processors,
        .unix_start = result.unix_start,
        .metrics = outcome.metrics,
        .rooms = {}};
    if (outcome.cluster.has_value()) {
      report.rooms.push_back({"hardware threads", &outcome.cluster->threads});
      report.rooms.push_back({"GPUs", &outcome.cluster->free_gpus});
    }
    RETURN_IF_ERROR(WriteResult(options.html, sim::ScheduleHtml(report, drawn, result.names)));
  }
  return options.perfetto.empty()
             ? absl::OkStatus()
             : WriteResult(options.perfetto, sim::SchedulePerfetto(drawn, result.names, partial));
}

int CodeOf(const SimulateOutcome& outcome) {
  if (!outcome.result.complete) {
    return kInterrupted;
  }
  const bool is_illegal = outcome.audit.has_value() && outcome.audit->violations != 0;
  const bool differs = outcome.check.has_value() && !outcome.check->same();
  return is_illegal || differs ? 1 : 0;
}

// What only a cluster has.
void AddClusterMetrics(SimulateOutcome* outcome) {
  if (!outcome->cluster.has_value() || outcome->metrics.empty()) {
    return;
  }
  const std::vector<sim::Metric> more = ClusterMetrics(*outcome->cluster);
  outcome->metrics.insert(outcome->metrics.end(), more.begin(), more.end());
}

// On a cluster, or on identical processors.
absl::StatusOr<sim::FlatResult> Run(const SimulateOptions& options, sim::FlatObserver& observer,
                                    std::optional<sim::ClusterResult>* cluster) {
  if (!options.cluster.has_value()) {
    return sim::SimulateFlat(options.run, observer);
  }
  ASSIGN_OR_RETURN(*cluster, sim::SimulateCluster(*options.cluster, observer));
  return (*cluster)->schedule;
}

// The log of decisions that was asked for; nothing where none was.
absl::StatusOr<std::unique_ptr<sim::DecisionLog>> OpenDecisions(const Invocation& invocation,
                                                                const SimulateOptions& options) {
  const bool resumes = !options.resume.empty();
  if (!resumes && options.checkpoint.empty()) {
    return nullptr;
  }
  ASSIGN_OR_RETURN(const std::string what, SimulationIdentity(invocation, options));
  return resumes ? sim::DecisionLog::Resume(options.resume, what)
                 : sim::DecisionLog::Create(options.checkpoint, what);
}

// Says on stderr how it ended, where that is not as it should be.
void TellStop(const sim::FlatResult& result, const sim::DecisionLog* decisions) {
  if (!result.complete) {
    std::cerr << "muster simulate: stopped by a signal: the results are partial and say so"
              << (decisions == nullptr ? std::string()
                                       : absl::StrCat("; go on with --resume ", decisions->path()))
              << "\n";
  }
}

absl::StatusOr<int> Simulate(const Invocation& invocation) {
  ASSIGN_OR_RETURN(SimulateOptions options, ReadSimulateOptions(invocation));
  ASSIGN_OR_RETURN(const std::unique_ptr<sim::DecisionLog> decisions,
                   OpenDecisions(invocation, options));
  options.run.decisions = decisions.get();
  if (options.cluster.has_value()) {
    options.cluster->decisions = decisions.get();
  }
  ASSIGN_OR_RETURN(const UniqueFd signals, BlockSignals({SIGINT, SIGTERM}));
  std::optional<sim::ScheduleCheck> check;
  if (!options.check.empty()) {
    ASSIGN_OR_RETURN(check, sim::ScheduleCheck::Open(options.check));
  }
  const SystemClock clock;
  ASSIGN_OR_RETURN(const std::unique_ptr<RowTaker> taker,
                   RowTaker::Create(options, invocation.environment,
                                    check.has_value() ? &*check : nullptr, signals, clock));
  std::optional<sim::ClusterResult> cluster;
  absl::StatusOr<sim::FlatResult> result = Run(options, *taker, &cluster);
  taker->Wipe();
  RETURN_IF_ERROR(result.status());
  RETURN_IF_ERROR(taker->Finish(*result));
  SimulateOutcome outcome{.result = *result,
                          .metrics = taker->metrics().Compute(result->processors),
                          .users = taker->metrics().Users(),
                          .audit = {},
                          .check = {},
                          .cluster = std::move(cluster)};
  AddClusterMetrics(&outcome);
  if (options.audit) {
    ASSIGN_OR_RETURN(outcome.audit, sim::AuditSchedule(taker->table_path(), result->processors));
  }
  if (check.has_value()) {
    outcome.check = check->Finish();
  }
  RETURN_IF_ERROR(WriteSummary(options, outcome));
  RETURN_IF_ERROR(WritePictures(options, outcome, taker->drawn()));
  RETURN_IF_ERROR(WriteOut(
      options.json
          ? SimulationDocument(options, outcome)
          : PrintSimulation(options, outcome, StyleFor(invocation.environment, STDOUT_FILENO))));
  TellStop(*result, decisions.get());
  return CodeOf(outcome);
}

}  // namespace

Verb SimulateVerb() {
  Verb verb;
  verb.name = "simulate";
  verb.purpose = "Replay a workload trace under a scheduling policy, and measure who waits";
  verb.forms = {"--trace FILE [options]"};
  verb.examples = {"muster simulate --trace KTH-SP2.swf.xz --policy easy --audit",
                   "muster simulate --trace log.swf --html schedule.html --jobs-csv jobs.csv",
                   "muster simulate --trace log.swf --flat 256 --policy easy-sjbf --estimates x2",
                   "muster simulate --trace log.swf --nodes 64 --cpus-per-node 32 --audit",
                   "muster simulate --trace sacct.txt --cluster site.toml --html page.html",
                   absl::StrCat("muster simulate --trace log.swf --nodes 64 --cpus-per-node 32 ",
                                "--failures mtbf=30d,repair=4h ",
                                "--job-checkpoints interval=auto,cost=60s,restart=2m")};
  verb.remarks = sim::FlatSemantics();
  verb.options = SimulateOptionTable();
  verb.run = Simulate;
  return verb;
}

}  // namespace muster::cli

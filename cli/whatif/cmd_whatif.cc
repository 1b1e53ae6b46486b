#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/controller/controller.h"
#include "cli/frame/output.h"
#include "cli/frame/progress_bar.h"
#include "cli/frame/result_file.h"
#include "cli/frame/verbs.h"
#include "cli/simulate/simulate_report.h"
#include "cli/simulate/simulated_cluster.h"
#include "cli/simulate/trace_options.h"
#include "cli/whatif/live_forecast.h"
#include "cli/whatif/whatif_cluster.h"
#include "cli/whatif/whatif_report.h"
#include "cli/whatif/whatif_settings.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/program/child_end.h"
#include "scheduler/runtime/signals.h"

namespace muster::cli {
namespace {

constexpr int kInterrupted = kShellSignalBase + SIGINT;
constexpr std::uint64_t kSeedMax = 1'000'000'000'000;
constexpr std::uint64_t kResamplesMax = 100'000;
constexpr std::uint64_t kVariantsMax = 20;
constexpr std::uint32_t kFutures = 100;
constexpr std::size_t kForecastsMax = 300;
constexpr std::uint32_t kLiveFutures = 200;
constexpr std::uint32_t kPastMax = 5000;

// What only a cluster has, behind the metrics of every schedule; nothing where those are none.
void AddClusterMetrics(const sim::ClusterResult& result, std::vector<sim::Metric>* metrics) {
  const auto makespan = std::find_if(
      metrics->begin(), metrics->end(),
      [](const sim::Metric& metric) { return std::string(metric.name) == "makespan"; });
  if (makespan == metrics->end()) {
    return;
  }
  const double held = static_cast<double>(result.gpus) * makespan->value;
  metrics->push_back({"gpu_utilisation",
                      held > 0 ? static_cast<double>(result.gpu_seconds) / held : 0, false, "",
                      "GPU seconds held / (GPUs x makespan)"});
  metrics->push_back({"preemptions", static_cast<double>(result.preemptions), true, "",
                      "how often a running job was preempted"});
  metrics->push_back({"refused", static_cast<double>(result.refused), true, "",
                      "jobs that policy or the size of every node shuts out"});
  const std::vector<sim::Metric> more = ClusterMetrics(result);
  metrics->insert(metrics->end(), more.begin(), more.end());
}

// Keeps what became of each job. Stops at SIGINT or SIGTERM.
class OutcomeTaker final : public sim::FlatObserver {
 public:
  // What is kept beside outcomes and metrics.
  struct Keeps {
    bool profile = false;
    bool past = false;
  };

  OutcomeTaker(const std::string& what, Keeps keeps, const UniqueFd& signals, const Clock& clock)
      : keeps_(keeps), signals_(signals), bar_(what, "jobs", clock, STDERR_FILENO) {}

  absl::Status Begin(std::int64_t processors) override {
    (void)processors;
    outcomes.clear();
    metrics = sim::ScheduleMetrics();
    profile.Clear();
    past.clear();
    return absl::OkStatus();
  }
  absl::Status Ended(const sim::ScheduleRow& row) override {
    outcomes.push_back(sim::OutcomeOf(row));
    metrics.Add(row);
    if (keeps_.profile) {
      profile.Add(row);
    }
    if (keeps_.past) {
      past.push_back({.id = row.job_id,
                      .submit = row.submission_time,
                      .start = row.starting_time,
                      .end = row.finish_time(),
                      .processors = row.requested_resources,
                      .limit = row.requested_time,
                      .user = row.user});
    }
    return absl::OkStatus();
  }
  bool KeepGoing(const sim::FlatProgress& progress) override {
    bar_.Show(progress.bytes_in_all == 0 ? -1
                                         : static_cast<double>(progress.bytes) /
                                               static_cast<double>(progress.bytes_in_all),
              progress.ended);
    const absl::StatusOr<std::optional<SignalEvent>> signal = NextSignal(signals_);
    return !signal.ok() || !signal->has_value();
  }
  void Wipe() { bar_.Wipe(); }

  std::vector<sim::JobOutcome> outcomes;
  sim::ScheduleMetrics metrics;
  sim::ScheduleProfile profile;
  std::vector<sim::PastJob> past;

 private:
  Keeps keeps_;
  const UniqueFd& signals_;
  ProgressBar bar_;
};

struct WhatifPlan {
  std::string name;  // of the trace, as it was given
  sim::TraceOptions trace;
  WhatifSettings base;                   // of identical processors
  std::optional<WhatifCluster> cluster;  // else
  std::vector<std::string> changes;
  std::string html;
  bool calibrates = false;
  sim::BootstrapOptions bootstrap;
};

absl::StatusOr<std::uint64_t> NumberOption(const Invocation& invocation, const char* name,
                                           std::uint64_t usual, std::uint64_t max) {
  if (!invocation.Has(name)) {
    return usual;
  }
  absl::StatusOr<std::uint64_t> number = ParseDigits(invocation.Value(name), max);
  if (!number.ok() || *number == 0) {
    return absl::InvalidArgumentError(absl::StrCat("--", name, ": ", Quote(invocation.Value(name)),
                                                   " is not a whole number from 1 to ", max));
  }
  return number;
}

// What --base or the options of nodes describe; nothing for identical processors.
absl::StatusOr<std::optional<WhatifCluster>> ReadBaseCluster(const Invocation& invocation) {
  std::string of_nodes;
  for (const Option& option : AlikeNodesOptionTable()) {
    of_nodes = of_nodes.empty() && invocation.Has(option.name) ? option.name : of_nodes;
  }
  bool in_file = false;
  if (invocation.Has("base")) {
    if (!of_nodes.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", of_nodes, ": the file of --base says it: leave one of them out"));
    }
    ASSIGN_OR_RETURN(in_file, DescribesCluster(invocation.Value("base")));
  }
  if (!in_file && of_nodes.empty()) {
    return std::nullopt;
  }
  if (invocation.Has("unit")) {
    return absl::InvalidArgumentError(
        "--unit: is for identical processors: leave it out, or the cluster");
  }
  return in_file ? WhatifCluster::Load(invocation.Value("base"))
                 : WhatifCluster::OfOptions(invocation);
}

absl::StatusOr<WhatifPlan> ReadPlan(const Invocation& invocation) {
  const bool asks = invocation.Has("change") || invocation.Has("calibrate");
  if (!invocation.Has("trace") || !asks) {
    return absl::InvalidArgumentError(
        "name the workload and what to change: --trace FILE --change 'nodes+=16'");
  }
  WhatifPlan plan;
  plan.name = invocation.Value("trace");
  ASSIGN_OR_RETURN(plan.trace, ReadTraceOptions(invocation, invocation.Value("trace")));
  if (invocation.Has("change")) {
    plan.changes = absl::StrSplit(invocation.Value("change"), '\n');
  }
  if (plan.changes.size() > kVariantsMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("--change: at most ", kVariantsMax, " variants at once"));
  }
  ASSIGN_OR_RETURN(plan.bootstrap.seed, NumberOption(invocation, "seed", 1, kSeedMax));
  ASSIGN_OR_RETURN(const std::uint64_t resamples,
                   NumberOption(invocation, "resamples", 2000, kResamplesMax));
  plan.bootstrap.resamples = static_cast<std::uint32_t>(resamples);
  plan.html = invocation.Value("html");
  plan.calibrates = invocation.Has("calibrate");
  ASSIGN_OR_RETURN(plan.cluster, ReadBaseCluster(invocation));
  if (plan.cluster.has_value()) {
    return plan.calibrates ? absl::InvalidArgumentError(
                                 "--calibrate: is for identical processors: leave it out, or the "
                                 "cluster")
                           : absl::StatusOr<WhatifPlan>(std::move(plan));
  }
  if (invocation.Has("base")) {
    ASSIGN_OR_RETURN(plan.base, ReadWhatifFile(invocation.Value("base")));
  }
  ASSIGN_OR_RETURN(const sim::OpenedTrace trace, sim::OpenTrace(plan.trace));
  if (plan.calibrates && plan.base.estimates != "requested") {
    return absl::InvalidArgumentError(
        "--calibrate: estimates are made from requested times: leave estimates out of --base");
  }
  const absl::Status status = CompleteSettings(trace.reader->header(), &plan.base);
  return status.ok() ? absl::StatusOr<WhatifPlan>(std::move(plan))
                     : absl::Status(status.code(), absl::StrCat(invocation.Value("trace"), ": ",
                                                                std::string(status.message())));
}

// The settings of a variant; nothing for a cluster's, which Under() gives.
absl::StatusOr<sim::FlatRun> FlatRunOf(const WhatifPlan& plan, const std::string& change) {
  WhatifSettings settings = plan.base;
  if (!change.empty()) {
    RETURN_IF_ERROR(ApplyChange(change, &settings));
  }
  sim::FlatRun run;
  RETURN_IF_ERROR(FillRun(settings, &run));
  run.trace = plan.trace.path;
  run.format = plan.trace.format;
  run.unit = plan.trace.unit;
  run.lenient = plan.trace.lenient;
  return run;
}

absl::Status CheckChange(const WhatifPlan& plan, const std::string& change) {
  return plan.cluster.has_value() ? plan.cluster->Under(change).status()
                                  : FlatRunOf(plan, change).status();
}

absl::StatusOr<WhatifVariant> RunOnCluster(const WhatifPlan& plan, const std::string& change,
                                           OutcomeTaker* taker) {
  ASSIGN_OR_RETURN(sim::ClusterRun run, plan.cluster->Under(change));
  run.trace = plan.trace.path;
  run.format = plan.trace.format;
  run.lenient = plan.trace.lenient;
  ASSIGN_OR_RETURN(const sim::ClusterResult result, sim::SimulateCluster(run, *taker));
  WhatifVariant variant;
  variant.metrics = taker->metrics.Compute(result.schedule.processors);
  AddClusterMetrics(result, &variant.metrics);
  variant.result = result.schedule;
  return variant;
}

absl::StatusOr<WhatifVariant> RunFlat(const WhatifPlan& plan, const std::string& change,
                                      OutcomeTaker* taker) {
  ASSIGN_OR_RETURN(const sim::FlatRun run, FlatRunOf(plan, change));
  WhatifVariant variant;
  ASSIGN_OR_RETURN(variant.result, sim::SimulateFlat(run, *taker));
  variant.metrics = taker->metrics.Compute(variant.result.processors);
  return variant;
}

absl::StatusOr<WhatifVariant> RunVariant(const WhatifPlan& plan, const std::string& change,
                                         OutcomeTaker* taker) {
  absl::StatusOr<WhatifVariant> variant =
      plan.cluster.has_value() ? RunOnCluster(plan, change, taker) : RunFlat(plan, change, taker);
  taker->Wipe();
  RETURN_IF_ERROR(variant.status());
  variant->change = change;
  variant->profile = std::move(taker->profile);
  return variant;
}

// How start estimates would have held under the base.
absl::Status Calibrate(const WhatifPlan& plan, const OutcomeTaker& taker, WhatifOutcome* outcome) {
  ASSIGN_OR_RETURN(const sim::FlatRun run, FlatRunOf(plan, ""));
  outcome->forecast = {.futures = kFutures, .seed = plan.bootstrap.seed};
  outcome->calibration =
      sim::CalibrateForecasts(taker.past, outcome->variants.front().result.processors, run.policy,
                              kForecastsMax, outcome->forecast);
  return absl::OkStatus();
}

// Base, then change by change. Bad changes are refused before anything runs.
absl::StatusOr<WhatifOutcome> RunPlan(const WhatifPlan& plan) {
  for (const std::string& change : plan.changes) {
    RETURN_IF_ERROR(CheckChange(plan, change));
  }
  ASSIGN_OR_RETURN(const UniqueFd signals, BlockSignals({SIGINT, SIGTERM}));
  const SystemClock clock;
  WhatifOutcome outcome;
  outcome.trace = plan.name;
  outcome.bootstrap = plan.bootstrap;
  const bool draws = !plan.html.empty();
  OutcomeTaker base("whatif: base", {.profile = draws, .past = plan.calibrates}, signals, clock);
  ASSIGN_OR_RETURN(WhatifVariant first, RunVariant(plan, "", &base));
  outcome.complete = first.result.complete;
  outcome.variants.push_back(std::move(first));
  if (plan.calibrates && outcome.complete) {
    RETURN_IF_ERROR(Calibrate(plan, base, &outcome));
  }
  for (const std::string& change : plan.changes) {
    if (!outcome.complete) {
      break;
    }
    OutcomeTaker taker(absl::StrCat("whatif: ", change), {.profile = draws}, signals, clock);
    ASSIGN_OR_RETURN(WhatifVariant variant, RunVariant(plan, change, &taker));
    outcome.complete = variant.result.complete;
    if (outcome.complete) {
      variant.comparison = sim::Compare(base.outcomes, std::move(taker.outcomes), plan.bootstrap);
      outcome.variants.push_back(std::move(variant));
    }
  }
  return outcome;
}

absl::StatusOr<int> Whatif(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const WhatifPlan plan, ReadPlan(invocation));
  ASSIGN_OR_RETURN(const WhatifOutcome outcome, RunPlan(plan));
  if (!outcome.variants.front().result.complete) {
    std::cerr << "muster whatif: stopped by a signal before the base was done: nothing compared\n";
    return kInterrupted;
  }
  if (!plan.html.empty()) {
    ASSIGN_OR_RETURN(const std::unique_ptr<ResultFile> file, ResultFile::Create(plan.html));
    RETURN_IF_ERROR(file->Append(WhatifHtml(outcome)));
    RETURN_IF_ERROR(file->Finish());
  }
  RETURN_IF_ERROR(
      WriteOut(invocation.Has("json")
                   ? WhatifDocument(outcome)
                   : PrintWhatif(outcome, StyleFor(invocation.environment, STDOUT_FILENO))));
  if (!outcome.complete) {
    std::cerr << "muster whatif: stopped by a signal: the results are partial and say so\n";
    return kInterrupted;
  }
  return 0;
}

// P50 and P90 for those that wait now.
absl::StatusOr<int> ForecastLive(const Invocation& invocation) {
  for (const char* option : {"trace", "base", "change", "calibrate", "html", "nodes"}) {
    if (invocation.Has(option)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", option, ": is for traces: leave it out, or --live"));
    }
  }
  sim::TraceUnit unit = sim::TraceUnit::kUsual;
  RETURN_IF_ERROR(ReadOption(invocation, "unit", sim::ParseTraceUnit, &unit));
  sim::ForecastOptions options{.futures = kLiveFutures, .seed = 1};
  ASSIGN_OR_RETURN(options.seed, NumberOption(invocation, "seed", 1, kSeedMax));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  ASSIGN_OR_RETURN(const NodeList nodes, connection->Call(ListNodes{{}, false}));
  ASSIGN_OR_RETURN(const std::vector<JobView> jobs, connection->Call(ListJobs{}));
  ListHistory past;
  past.limit = kPastMax;
  ASSIGN_OR_RETURN(const std::vector<JobView> history, connection->Call(past));
  const LiveState live =
      ReadLiveState(nodes.nodes, jobs, history, SystemClock().Now(),
                    unit == sim::TraceUnit::kGpus ? ForecastUnit::kGpus : ForecastUnit::kCpus);
  const std::vector<sim::StartQuantiles> starts =
      sim::ForecastStarts(live.state, LivePolicy(), live.use, options);
  RETURN_IF_ERROR(WriteOut(
      invocation.Has("json") ? LiveForecastDocument(live, starts, options)
                             : PrintLiveForecast(live, starts, options,
                                                 StyleFor(invocation.environment, STDOUT_FILENO))));
  return 0;
}

absl::StatusOr<int> WhatifOrLive(const Invocation& invocation) {
  return invocation.Has("live") ? ForecastLive(invocation) : Whatif(invocation);
}

}  // namespace

Verb WhatifVerb() {
  Verb verb;
  verb.name = "whatif";
  verb.purpose = "Replay a workload under changed settings, and say who gains and who loses";
  verb.forms = {"--trace FILE [--change SETTING…] [--calibrate] [options]", "--live [options]"};
  verb.examples = {
      "muster whatif --trace log.swf --change nodes+=16 --change policy=fcfs",
      "muster whatif --trace sacct.txt --base site.toml --change policy.backfill=easy --html "
      "a.html",
      "muster whatif --trace log.swf --nodes 64 --cpus-per-node 32 --change nodes+=16"};
  verb.remarks =
      "Each --change is a variant of its own; commas make one of several settings.\n"
      "Identical processors: --base is a TOML file with processors, or nodes and cpus_per_node\n"
      "(= += -= *=); policy, backfill, backfill_order, estimates, instant, filter (=), with the\n"
      "values of muster simulate; what it leaves open is as the trace says, and policy easy.\n"
      "A cluster: --base is a file as muster simulate --cluster reads it, or the options of\n"
      "nodes; settings are the file's keys by their paths (nodes.NAME.count, policy.backfill,\n"
      "priority.weight_age, partition.NAME.max_nodes …), and short for them nodes, cpus_per_node,\n"
      "gpus_per_node (where all nodes are alike), policy and estimates.\n"
      "How the starts held that a controller promised: muster replay STATE_DIR.\n";
  verb.options = TraceOptionTable();
  verb.options.insert(
      verb.options.begin(),
      MakeOption("trace", "FILE", "The workload, in any format that muster trace reads"));
  verb.options.push_back(MakeOption("base", "FILE.toml", "The settings that are changed"));
  const std::vector<Option> of_nodes = AlikeNodesOptionTable();
  verb.options.insert(verb.options.end(), of_nodes.begin(), of_nodes.end());
  verb.options.push_back({.name = "change",
                          .letter = 0,
                          .metavar = "SETTING",
                          .text = "A variant: nodes+=16, policy=fcfs … (may be given again)",
                          .joined_by = '\n'});
  verb.options.push_back(MakeOption("seed", "N", "Of the bootstrap (default: 1)"));
  verb.options.push_back(MakeOption("resamples", "N", "Of the bootstrap (default: 2000)"));
  verb.options.push_back(MakeOption(
      "calibrate", "", "How start estimates, made at submission, would have held under the base"));
  verb.options.push_back(
      MakeOption("live", "", "Instead: P50 and P90 of the starts of the jobs that wait now"));
  verb.options.push_back(
      MakeOption("html", "FILE", "Write one page with the schedules side by side"));
  verb.options.push_back(JsonOption());
  verb.run = WhatifOrLive;
  return verb;
}

}  // namespace muster::cli

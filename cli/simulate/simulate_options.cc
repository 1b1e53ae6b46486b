#include "cli/simulate/simulate_options.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "cli/simulate/simulated_cluster.h"
#include "cli/simulate/trace_options.h"
#include "scheduler/base/status.h"
#include "scheduler/simulator/flat/policy_names.h"

namespace muster::cli {

absl::Status CheckCombination(const sim::FlatPolicy& policy) {
  if (policy.backfill == Backfill::kConservative && policy.order != sim::FlatOrder::kArrival) {
    return absl::InvalidArgumentError(
        "--backfill: conservative keeps the order of arrival: use --policy conservative, or "
        "--backfill easy");
  }
  if (policy.candidates != sim::CandidateOrder::kQueue && policy.backfill != Backfill::kEasy) {
    return absl::InvalidArgumentError(
        "--backfill-order: only EASY has candidates: add --backfill easy, or leave it out");
  }
  return absl::OkStatus();
}

namespace {

// What is for identical processors only.
absl::Status CheckForCluster(const Invocation& invocation, bool is_cluster) {
  for (const char* option : {"flat", "unit", "backfill", "backfill-order", "instant", "filter"}) {
    if (is_cluster && invocation.Has(option)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", option,
                       ": is for identical processors: leave it out, or the options of a cluster"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<Option> SimulateOptionTable() {
  std::vector<Option> options = {
      MakeOption("trace", "FILE",
                 "The workload, plain or compressed by gzip, zstd or xz, in any format that muster "
                 "trace reads"),
      MakeOption("flat", "P", "P identical processors (default: MaxProcs of the trace's header)"),
      MakeOption(
          "policy", "NAME",
          "fcfs, easy (default), easy-sjbf, conservative, sjf, wfp3, unicep, f1, f2, f3, f4, "
          "fairshare, prompt; of a cluster (default: muster) " +
              ClusterPolicyNames()),
      MakeOption("backfill", "KIND",
                 "none, easy or conservative, instead of what the policy has: --policy sjf "
                 "--backfill easy"),
      MakeOption("backfill-order", "ORDER",
                 "EASY looks at candidates in queue order (queue) or shortest first (shortest)"),
      MakeOption("estimates", "KIND",
                 "requested (default), exact, x2, user-last-2 or learned (default of prompt)"),
      MakeOption("instant", "ORDER",
                 "What comes first at one instant: ends-first (the default) or submit-first"),
      MakeOption("filter", "NAME",
                 "Which records are dropped: plain (the default), or sc15, that of the published "
                 "EASY tables of SC'15"),
      MakeOption("jobs-csv", "FILE", "Write a row for each job, with Batsim's column names"),
      MakeOption("swf", "FILE",
                 "Write the schedule in the Standard Workload Format, in order of end: a job's "
                 "wait is the simulated one"),
      MakeOption("html", "FILE", "Write one page with the Gantt chart, load, waits, who waited"),
      MakeOption(
          "perfetto", "FILE",
          "Write trace events, a process for each user, for ui.perfetto.dev or chrome://tracing"),
      MakeOption("summary-json", "FILE", "Write what --json prints"),
      MakeOption("checkpoint", "FILE",
                 "Keep what is decided in a new file, for --resume after Ctrl-C or worse"),
      MakeOption("resume", "FILE",
                 "Go on with such a file, to the results of a run that was never stopped"),
      MakeOption("audit", "", "Prove from the table of jobs alone that the schedule is legal"),
      MakeOption("check", "FILE",
                 "Compare the starts with another schedule, job by job (CSV or SWF)"),
      JsonOption(),
  };
  const std::vector<Option> of_traces = TraceOptionTable();
  options.insert(options.begin() + 1, of_traces.begin(), of_traces.end());
  const std::vector<Option> of_clusters = ClusterOptionTable();
  const auto policy = std::find_if(options.begin(), options.end(),
                                   [](const Option& option) { return option.name == "policy"; });
  options.insert(policy, of_clusters.begin(), of_clusters.end());
  return options;
}

absl::StatusOr<SimulateOptions> ReadSimulateOptions(const Invocation& invocation) {
  if (!invocation.Has("trace")) {
    return absl::InvalidArgumentError("--trace: name the workload: --trace FILE");
  }
  SimulateOptions options;
  sim::FlatRun& run = options.run;
  ASSIGN_OR_RETURN(const sim::TraceOptions trace,
                   ReadTraceOptions(invocation, invocation.Value("trace")));
  options.trace = invocation.Value("trace");
  run.trace = trace.path;
  run.format = trace.format;
  run.unit = trace.unit;
  run.lenient = trace.lenient;
  ASSIGN_OR_RETURN(options.cluster, ReadClusterRun(invocation));
  RETURN_IF_ERROR(CheckForCluster(invocation, options.cluster.has_value()));
  options.policy = invocation.Has("policy")      ? invocation.Value("policy")
                   : options.cluster.has_value() ? "muster"
                                                 : "easy";
  if (!options.cluster.has_value()) {
    RETURN_IF_ERROR(ReadOption(invocation, "policy", sim::ParseFlatPolicy, &run.policy));
  }
  RETURN_IF_ERROR(ReadOption(invocation, "backfill", sim::ParseBackfill, &run.policy.backfill));
  RETURN_IF_ERROR(
      ReadOption(invocation, "backfill-order", sim::ParseCandidateOrder, &run.policy.candidates));
  RETURN_IF_ERROR(CheckCombination(run.policy));
  RETURN_IF_ERROR(ReadOption(invocation, "flat", ParseProcessors, &run.processors));
  RETURN_IF_ERROR(ReadOption(invocation, "estimates", sim::ParseEstimates, &run.estimates));
  RETURN_IF_ERROR(ReadOption(invocation, "instant", sim::ParseInstantOrder, &run.instant));
  RETURN_IF_ERROR(ReadOption(invocation, "filter", sim::ParseRecordFilter, &run.filter));
  if (run.policy.order == sim::FlatOrder::kPrompt && !invocation.Has("estimates")) {
    run.estimates = sim::Estimates::kLearned;
  }
  run.policy.estimates_fall_short = sim::FallShort(run.estimates);
  if (options.cluster.has_value()) {
    const bool prompt = options.cluster->config.priority.order == QueueRule::kPrompt;
    if (prompt && !invocation.Has("estimates")) {
      run.estimates = sim::Estimates::kLearned;
    }
    if (sim::FallShort(run.estimates) && !(prompt && run.estimates == sim::Estimates::kLearned)) {
      return absl::InvalidArgumentError(
          "--estimates: user-last-2 and learned are for --flat, learned for --policy prompt too: a "
          "live job's limit is what it was submitted with");
    }
    options.cluster->trace = run.trace;
    options.cluster->format = run.format;
    options.cluster->lenient = run.lenient;
    options.cluster->estimates = run.estimates;
  }
  options.jobs_csv = invocation.Value("jobs-csv");
  options.summary_json = invocation.Value("summary-json");
  options.html = invocation.Value("html");
  options.perfetto = invocation.Value("perfetto");
  options.swf = invocation.Value("swf");
  options.check = invocation.Value("check");
  options.checkpoint = invocation.Value("checkpoint");
  options.resume = invocation.Value("resume");
  if (!options.checkpoint.empty() && !options.resume.empty()) {
    return absl::InvalidArgumentError(
        "--checkpoint: --resume goes on writing its own file: leave one of them out");
  }
  options.audit = invocation.Has("audit");
  options.json = invocation.Has("json");
  run.with_processors = options.audit || !options.jobs_csv.empty() || !options.html.empty() ||
                        !options.perfetto.empty();
  return options;
}

}  // namespace muster::cli

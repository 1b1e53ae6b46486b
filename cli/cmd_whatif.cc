#include "cli/cmd_whatif.h"

#include <unistd.h>

#include <csignal>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/output.h"
#include "cli/parse/number.h"
#include "cli/progress_bar.h"
#include "cli/trace_options.h"
#include "cli/whatif_report.h"
#include "cli/whatif_settings.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/signals.h"

namespace muster {
namespace {

constexpr int kInterrupted = 128 + SIGINT;
constexpr std::uint64_t kSeedMax = 1'000'000'000'000;
constexpr std::uint64_t kResamplesMax = 100'000;
constexpr std::uint64_t kVariantsMax = 20;

// Keeps what became of each job. Stops at SIGINT or SIGTERM.
class OutcomeTaker final : public FlatObserver {
 public:
  OutcomeTaker(const std::string& what, const UniqueFd& signals, const Clock& clock)
      : signals_(signals), bar_(what, "jobs", clock, STDERR_FILENO) {}

  absl::Status Begin(std::int64_t processors) override {
    (void)processors;
    outcomes.clear();
    metrics = ScheduleMetrics();
    return absl::OkStatus();
  }
  absl::Status Ended(const ScheduleRow& row) override {
    outcomes.push_back(OutcomeOf(row));
    metrics.Add(row);
    return absl::OkStatus();
  }
  bool KeepGoing(const FlatProgress& progress) override {
    bar_.Show(progress.bytes_in_all == 0 ? -1
                                         : static_cast<double>(progress.bytes) /
                                               static_cast<double>(progress.bytes_in_all),
              progress.ended);
    const absl::StatusOr<std::optional<SignalEvent>> signal = NextSignal(signals_);
    return !signal.ok() || !signal->has_value();
  }
  void Wipe() { bar_.Wipe(); }

  std::vector<JobOutcome> outcomes;
  ScheduleMetrics metrics;

 private:
  const UniqueFd& signals_;
  ProgressBar bar_;
};

struct WhatifPlan {
  std::string name;  // of the trace, as it was given
  TraceOptions trace;
  WhatifSettings base;
  std::vector<std::string> changes;
  BootstrapOptions bootstrap;
};

absl::StatusOr<std::uint64_t> NumberOption(const Invocation& invocation, const char* name,
                                           std::uint64_t usual, std::uint64_t max) {
  if (!invocation.Has(name)) {
    return usual;
  }
  const absl::StatusOr<std::uint64_t> number = ParseDigits(invocation.Value(name), max);
  if (!number.ok() || *number == 0) {
    return absl::InvalidArgumentError(absl::StrCat("--", name, ": ", Quote(invocation.Value(name)),
                                                   " is not a whole number from 1 to ", max));
  }
  return number;
}

absl::StatusOr<WhatifPlan> ReadPlan(const Invocation& invocation) {
  if (!invocation.Has("trace") || !invocation.Has("change")) {
    return absl::InvalidArgumentError(
        "name the workload and what to change: --trace FILE --change 'nodes+=16'");
  }
  WhatifPlan plan;
  plan.name = invocation.Value("trace");
  ASSIGN_OR_RETURN(plan.trace, ReadTraceOptions(invocation, invocation.Value("trace")));
  plan.changes = absl::StrSplit(invocation.Value("change"), '\n');
  if (plan.changes.size() > kVariantsMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("--change: at most ", kVariantsMax, " variants at once"));
  }
  ASSIGN_OR_RETURN(plan.bootstrap.seed, NumberOption(invocation, "seed", 1, kSeedMax));
  ASSIGN_OR_RETURN(const std::uint64_t resamples,
                   NumberOption(invocation, "resamples", 2000, kResamplesMax));
  plan.bootstrap.resamples = static_cast<std::uint32_t>(resamples);
  if (invocation.Has("base")) {
    ASSIGN_OR_RETURN(plan.base, ReadWhatifFile(invocation.Value("base")));
  }
  ASSIGN_OR_RETURN(const OpenedTrace trace, OpenTrace(plan.trace));
  const absl::Status status = CompleteSettings(trace.reader->header(), &plan.base);
  return status.ok() ? absl::StatusOr<WhatifPlan>(std::move(plan))
                     : absl::Status(status.code(), absl::StrCat(invocation.Value("trace"), ": ",
                                                                std::string(status.message())));
}

absl::StatusOr<WhatifVariant> RunVariant(const WhatifPlan& plan, const std::string& change,
                                         OutcomeTaker* taker) {
  WhatifSettings settings = plan.base;
  if (!change.empty()) {
    RETURN_IF_ERROR(ApplyChange(change, &settings));
  }
  FlatRun run;
  RETURN_IF_ERROR(FillRun(settings, &run));
  run.trace = plan.trace.path;
  run.format = plan.trace.format;
  run.unit = plan.trace.unit;
  run.lenient = plan.trace.lenient;
  WhatifVariant variant;
  variant.change = change;
  absl::StatusOr<FlatResult> result = SimulateFlat(run, *taker);
  taker->Wipe();
  RETURN_IF_ERROR(result.status());
  variant.result = *std::move(result);
  variant.metrics = taker->metrics.Compute(variant.result.processors);
  return variant;
}

// Base, then change by change. Bad changes are refused before anything runs.
absl::StatusOr<WhatifOutcome> RunPlan(const WhatifPlan& plan) {
  for (const std::string& change : plan.changes) {
    WhatifSettings settings = plan.base;
    RETURN_IF_ERROR(ApplyChange(change, &settings));
  }
  ASSIGN_OR_RETURN(const UniqueFd signals, BlockSignals({SIGINT, SIGTERM}));
  const SystemClock clock;
  WhatifOutcome outcome{
      .trace = plan.name, .bootstrap = plan.bootstrap, .variants = {}, .complete = true};
  OutcomeTaker base("whatif: base", signals, clock);
  ASSIGN_OR_RETURN(WhatifVariant first, RunVariant(plan, "", &base));
  outcome.complete = first.result.complete;
  outcome.variants.push_back(std::move(first));
  for (const std::string& change : plan.changes) {
    if (!outcome.complete) {
      break;
    }
    OutcomeTaker taker(absl::StrCat("whatif: ", change), signals, clock);
    ASSIGN_OR_RETURN(WhatifVariant variant, RunVariant(plan, change, &taker));
    outcome.complete = variant.result.complete;
    if (outcome.complete) {
      variant.comparison = Compare(base.outcomes, std::move(taker.outcomes), plan.bootstrap);
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

}  // namespace

Verb WhatifVerb() {
  Verb verb;
  verb.name = "whatif";
  verb.purpose = "Replay a workload under changed settings, and say who gains and who loses";
  verb.examples = {
      "muster whatif --trace log.swf --change nodes+=16 --change policy=fcfs",
      "muster whatif --trace sacct.txt --base site.toml --change 'nodes*=2,policy=easy'"};
  verb.remarks =
      "Each --change is a variant of its own; commas make one of several settings. Settings:\n"
      "processors, or nodes and cpus_per_node (= += -= *=); policy, backfill, backfill_order,\n"
      "estimates, instant, filter (=), with the values of muster simulate. --base is a TOML file\n"
      "with the same keys; what it leaves open is as the trace says, and policy easy.\n";
  verb.options = TraceOptionTable();
  verb.options.insert(verb.options.begin(), MakeOption("trace", "FILE", "The workload"));
  verb.options.push_back(MakeOption("base", "FILE.toml", "The settings that are changed"));
  verb.options.push_back({.name = "change",
                          .letter = 0,
                          .metavar = "SETTING",
                          .text = "A variant: nodes+=16, policy=fcfs … (may be given again)",
                          .joined_by = '\n'});
  verb.options.push_back(MakeOption("seed", "N", "Of the bootstrap (default: 1)"));
  verb.options.push_back(MakeOption("resamples", "N", "Of the bootstrap (default: 2000)"));
  verb.options.push_back(JsonOption());
  verb.run = Whatif;
  return verb;
}

}  // namespace muster

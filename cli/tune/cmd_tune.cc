#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/frame/output.h"
#include "cli/frame/progress_bar.h"
#include "cli/frame/result_file.h"
#include "cli/frame/verbs.h"
#include "cli/page/text.h"
#include "cli/simulate/trace_options.h"
#include "cli/tune/tune_frontier.h"
#include "cli/tune/tune_report.h"
#include "cli/tune/tune_search.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/config_file.h"
#include "scheduler/runtime/program/child_end.h"
#include "scheduler/runtime/signals.h"
#include "scheduler/settings/settings_file.h"

namespace muster::cli {
namespace {

constexpr int kInterrupted = kShellSignalBase + SIGINT;
constexpr std::int64_t kDaysMax = 36'500;
constexpr std::uint32_t kThreadsMax = 256;
constexpr std::uint32_t kPercentLeast = 100;
constexpr std::uint32_t kPercentMost = 100'000;

absl::StatusOr<std::int64_t> NumberOption(const Invocation& invocation, const char* name,
                                          std::int64_t usual, std::int64_t least,
                                          std::int64_t most) {
  if (!invocation.Has(name)) {
    return usual;
  }
  const absl::StatusOr<std::uint64_t> number =
      ParseDigits(invocation.Value(name), static_cast<std::uint64_t>(most));
  if (!number.ok() || static_cast<std::int64_t>(*number) < least) {
    return absl::InvalidArgumentError(absl::StrCat("--", name, ": ", Quote(invocation.Value(name)),
                                                   " is not a whole number from ", least, " to ",
                                                   most));
  }
  return static_cast<std::int64_t>(*number);
}

// A directory is one in which a controller keeps its state: it is asked itself.
absl::StatusOr<TuneWorkload> ReadWorkload(const Invocation& invocation) {
  if (!invocation.Has("trace")) {
    return absl::InvalidArgumentError(
        "name the history: --trace LOG, or --trace STATE_DIR of a controller that runs");
  }
  const std::string trace = invocation.Value("trace");
  ASSIGN_OR_RETURN(const std::int64_t days, NumberOption(invocation, "days", 90, 0, kDaysMax));
  std::int64_t processors = 0;
  RETURN_IF_ERROR(ReadOption(invocation, "flat", ParseProcessors, &processors));
  std::error_code error;
  if (!std::filesystem::is_directory(trace, error)) {
    ASSIGN_OR_RETURN(const sim::TraceOptions options, ReadTraceOptions(invocation, trace));
    return WorkloadOfTrace(options, days, processors);
  }
  ASSIGN_OR_RETURN(const Address address, ControllerAddress("", trace, invocation.environment));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(address));
  return WorkloadOfHistory(trace, *connection, days, processors);
}

// What is there: the configuration that --config names, or what a controller does without one.
absl::StatusOr<TuneSettings> ReadCurrent(const Invocation& invocation) {
  SchedulerConfig config = DefaultSettings();
  if (invocation.Has("config")) {
    ASSIGN_OR_RETURN(ConfigFile file, ConfigFile::Load(invocation.Value("config")));
    RETURN_IF_ERROR(ReadSettings(file, config));
  }
  return SettingsOf(config);
}

absl::StatusOr<TuneOptions> ReadOptions(const Invocation& invocation) {
  TuneOptions options;
  RETURN_IF_ERROR(ReadOption(invocation, "goal", ParseTuneGoal, &options.goal));
  const auto usual = std::max<std::int64_t>(1, std::thread::hardware_concurrency());
  ASSIGN_OR_RETURN(const std::int64_t threads,
                   NumberOption(invocation, "threads", usual, 1, kThreadsMax));
  options.threads = static_cast<std::uint32_t>(threads);
  ASSIGN_OR_RETURN(const std::int64_t percent,
                   NumberOption(invocation, "longest-percent", 125, kPercentLeast, kPercentMost));
  options.longest_factor = static_cast<double>(percent) / 100;
  return options;
}

// The two choices once more, to compare job by job.
absl::Status CompareChoices(const TuneWorkload& workload, std::atomic<bool>& stop,
                            TuneOutcome* outcome) {
  std::vector<sim::JobOutcome> now;
  std::vector<sim::JobOutcome> then;
  RETURN_IF_ERROR(RunTrial(workload, outcome->found.current.settings, stop, &now).status());
  RETURN_IF_ERROR(RunTrial(workload, outcome->found.best.settings, stop, &then).status());
  outcome->comparison = sim::Compare(std::move(now), std::move(then), sim::BootstrapOptions());
  return absl::OkStatus();
}

absl::Status DrawFrontier(const Invocation& invocation, const TuneWorkload& workload,
                          const TuneSettings& current, const TuneOptions& options,
                          std::atomic<bool>& stop, TuneResults& results) {
  const TuneSettings prompt =
      current.policy.order == sim::FlatOrder::kPrompt ? current : LivePolicies().front();
  ASSIGN_OR_RETURN(const std::vector<FrontierPoint> points,
                   RunFrontier(workload, prompt, options.threads, stop, results));
  const std::string title =
      absl::StrCat(std::filesystem::path(workload.name).filename().string(), ": ", workload.jobs,
                   " jobs, ", workload.processors, " processors; prompt by slack, and baselines");
  return WriteResult(invocation.Value("frontier"), FrontierSvg(title, points));
}

absl::Status Report(const Invocation& invocation, const TuneWorkload& workload,
                    const TuneOptions& options, const TuneOutcome& outcome) {
  RETURN_IF_ERROR(WriteOut(invocation.Has("json")
                               ? TuneDocument(workload, options, outcome)
                               : PrintTune(workload, options, outcome,
                                           StyleFor(invocation.environment, STDOUT_FILENO))));
  if (!invocation.Has("write") || !IsWorthIt(outcome, options.goal)) {
    return absl::OkStatus();
  }
  return WriteResult(invocation.Value("write"), TuneFile(workload, options, outcome));
}

// What the command line and its files say.
struct TuneQuestion {
  TuneOptions options;
  TuneSettings current;
  TuneWorkload workload;
};

absl::StatusOr<TuneQuestion> ReadQuestion(const Invocation& invocation) {
  TuneQuestion question;
  ASSIGN_OR_RETURN(question.options, ReadOptions(invocation));
  ASSIGN_OR_RETURN(question.current, ReadCurrent(invocation));
  ASSIGN_OR_RETURN(question.workload, ReadWorkload(invocation));
  return question;
}

// Searches, compares and reports; or, with --frontier, draws.
absl::Status Work(const Invocation& invocation, const TuneQuestion& question,
                  std::atomic<bool>& stop, TuneResults& results,
                  const std::function<void(double, std::size_t)>& tell) {
  const auto& [options, current, workload] = question;
  if (invocation.Has("frontier")) {
    return DrawFrontier(invocation, workload, current, options, stop, results);
  }
  TuneOutcome outcome;
  ASSIGN_OR_RETURN(outcome.found, Search(workload, current, options, stop, results, tell));
  tell(1, outcome.found.trials);
  RETURN_IF_ERROR(CompareChoices(workload, stop, &outcome));
  return Report(invocation, workload, options, outcome);
}

absl::StatusOr<int> Tune(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const TuneQuestion question, ReadQuestion(invocation));
  ASSIGN_OR_RETURN(const std::unique_ptr<TuneResults> results,
                   TuneResults::Open(invocation.Value("resume"), question.workload.print));
  ASSIGN_OR_RETURN(const UniqueFd signals, BlockSignals({SIGINT, SIGTERM}));
  const SystemClock clock;
  ProgressBar bar("tune", "simulations", clock, STDERR_FILENO);
  std::atomic<bool> stop = false;
  const auto tell = [&](double share, std::size_t done) {
    const absl::StatusOr<std::optional<SignalEvent>> signal = NextSignal(signals);
    stop = stop || (signal.ok() && signal->has_value());
    if (share < 1 && !stop) {
      bar.Show(share, done);
    } else {
      bar.Wipe();
    }
  };
  const absl::Status status = Work(invocation, question, stop, *results, tell);
  bar.Wipe();
  if (absl::IsCancelled(status)) {
    std::cerr << "muster tune: stopped by a signal"
              << (invocation.Has("resume") ? ": the same command goes on from there\n"
                                           : ": with --resume FILE it would go on from there\n");
    return kInterrupted;
  }
  RETURN_IF_ERROR(status);
  return 0;
}

}  // namespace

Verb TuneVerb() {
  Verb verb;
  verb.name = "tune";
  verb.purpose = "Search the scheduler's settings by simulation over a site's own history";
  verb.synopsis = "--trace LOG|STATE_DIR [options]";
  verb.examples = {"muster tune --trace log.swf --days 90",
                   "muster tune --trace ~/.local/state/muster --goal wait --write tuned.toml",
                   "muster tune --trace log.swf --days 0 --frontier log.svg"};
  verb.options = TraceOptionTable();
  const std::vector<Option> own = {
      MakeOption("trace", "LOG|STATE_DIR",
                 "The history: a trace, or the state directory of a controller that runs"),
      MakeOption("days", "N", "The last N days of it (default: 90; 0: all)"),
      MakeOption("goal", "GOAL", "slowdown (default), wait, utilisation or fairness"),
      MakeOption("config", "FILE.toml", "What is there now (default: the built-in settings)"),
      MakeOption("flat", "P", "Processors, where the history does not say"),
      MakeOption("longest-percent", "N", "The longest wait allowed, in % of EASY's (default: 125)"),
      MakeOption("threads", "N", "Simulations at once (default: one for each processor)"),
      MakeOption("resume", "FILE", "Keep results there, and go on with those that it has"),
      MakeOption("write", "FILE.toml", "Write the settings, if they surely beat what is there"),
      MakeOption("frontier", "FILE.svg",
                 "Instead: draw slowdown against longest wait, from tight promises to none")};
  verb.options.insert(verb.options.begin(), own.begin(), own.end());
  verb.options.push_back(JsonOption());
  verb.run = Tune;
  return verb;
}

}  // namespace muster::cli

#include "cli/slurm/live/cmd_sdiag.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "cli/controller/address.h"
#include "cli/controller/streams/metric_calls.h"
#include "cli/slurm/document/envelope.h"
#include "cli/slurm/format/amounts.h"
#include "cli/slurm/frame/cluster.h"
#include "cli/slurm/frame/errors.h"
#include "cli/slurm/frame/words.h"
#include "scheduler/base/status.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli::slurm {
namespace {

constexpr Row kDiagRows[] = {
    {"all", 'a'},
    {"cluster", 'M', Takes::kValue},
    {"clusters", 'M', Takes::kValue},
    {"json", 0, Takes::kOptional},
    {"reset", 'r'},
    {"sort-by-id", 'i'},
    {"sort-by-time", 't'},
    {"sort-by-time2", 'T'},
    {"yaml", 0, Takes::kOptional},
};
// What the controller counted since it began, and what there is now.
struct Figures {
  std::string cluster;
  Time now = kNoTime;
  Time since = kNoTime;
  std::uint64_t submitted = 0;
  std::uint64_t started = 0;
  std::uint64_t completed = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t failed = 0;
  std::uint32_t pending = 0;
  std::uint32_t running = 0;
  std::uint64_t cycles = 0;
  std::uint64_t last_us = 0;  // microseconds
  std::uint64_t longest_us = 0;
  std::uint64_t mean_us = 0;
  std::uint64_t per_minute = 0;
  std::vector<MetricValue> calls;  // by method; seconds
};

std::uint64_t Microseconds(double seconds) {
  return static_cast<std::uint64_t>(seconds * 1e6);
}

void CountEnded(const Metrics& metrics, Figures& figures) {
  const auto ended = metrics.families.find("muster_jobs_ended");
  if (ended == metrics.families.end()) {
    return;
  }
  for (const MetricValue& state : ended->second) {
    const std::string name = state.labels.empty() ? "" : state.labels.front();
    const bool cancelled = IsCancelled(name);
    const bool completed = IsSuccess(name);
    (cancelled   ? figures.cancelled
     : completed ? figures.completed
                 : figures.failed) += static_cast<std::uint64_t>(state.value);
  }
}

void CountCycles(const Metrics& metrics, Figures& figures) {
  const MetricValue cycles = metrics.First("muster_cycle_seconds");
  figures.cycles = cycles.count;
  figures.last_us = Microseconds(metrics.First("muster_cycle_last_seconds").value);
  figures.longest_us = Microseconds(metrics.First("muster_cycle_longest_seconds").value);
  figures.mean_us = cycles.count == 0 ? 0 : Microseconds(cycles.value) / cycles.count;
  const auto minutes =
      std::chrono::duration_cast<std::chrono::minutes>(figures.now - figures.since);
  figures.per_minute =
      cycles.count / static_cast<std::uint64_t>(std::max<std::int64_t>(minutes.count(), 1));
}

absl::StatusOr<Figures> FetchFigures(const Call& call, const Words& words) {
  Figures figures;
  ASSIGN_OR_RETURN(const Address address, ControllerAddress("", "", call.environment));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenCluster(call));
  RETURN_IF_ERROR(CheckClusters(*connection, words.Value("cluster")));
  ASSIGN_OR_RETURN(const ClusterStatus status, connection->Call(Ping{}));
  ASSIGN_OR_RETURN(const Metrics metrics, ReadMetrics(address));
  figures.cluster = status.cluster;
  figures.pending = status.jobs_pending;
  figures.running = status.jobs_running;
  figures.now = SystemClock().Now();
  figures.since = Time(Duration(
      static_cast<std::int64_t>(metrics.First("muster_controller_start_seconds").value * 1000)));
  const auto count = [&metrics](const char* name) {
    return static_cast<std::uint64_t>(metrics.First(name).value);
  };
  figures.submitted = count("muster_jobs_submitted");
  figures.started = count("muster_attempts_started");
  CountEnded(metrics, figures);
  CountCycles(metrics, figures);
  if (const auto calls = metrics.families.find("muster_call_seconds");
      calls != metrics.families.end()) {
    figures.calls = calls->second;
    std::erase_if(figures.calls, [](const MetricValue& method) { return method.count == 0; });
  }
  return figures;
}

// Who called what how often, and how long answers took.
std::string CallLines(std::vector<MetricValue> calls, const Words& words) {
  std::stable_sort(calls.begin(), calls.end(),
                   [&words](const MetricValue& a, const MetricValue& b) {
                     return words.Has("sort-by-id")     ? a.labels < b.labels
                            : words.Has("sort-by-time") ? a.value > b.value
                                                        : a.count > b.count;
                   });
  std::string lines = "\nRemote Procedure Call statistics by message type\n";
  for (const MetricValue& method : calls) {
    const std::string name =
        method.labels.empty() ? ""
                              : method.labels.front().substr(method.labels.front().rfind('/') + 1);
    absl::StrAppendFormat(&lines, "\t%-40s count:%-6d ave_time:%-6d total_time:%d\n", name,
                          method.count, Microseconds(method.value) / method.count,
                          Microseconds(method.value));
  }
  return lines;
}

// "Tue Nov 24 02:24:30 2026 (1795487070)".
std::string LongMoment(Time time, absl::TimeZone zone) {
  const std::int64_t milliseconds = time.time_since_epoch().count();
  return absl::StrCat(
      absl::FormatTime("%a %b %d %H:%M:%S %Y", absl::FromUnixMillis(milliseconds), zone), " (",
      milliseconds / 1000, ")");
}

std::string DiagPage(const Figures& figures, const Words& words, absl::TimeZone zone) {
  const std::string rule(55, '*');
  return absl::StrCat(
      rule, "\nsdiag output at ", LongMoment(figures.now, zone), "\nData since      ",
      LongMoment(figures.since, zone), "\n", rule, "\nJobs submitted: ", figures.submitted,
      "\nJobs started:   ", figures.started, "\nJobs completed: ", figures.completed,
      "\nJobs canceled:  ", figures.cancelled, "\nJobs failed:    ", figures.failed,
      "\n\nJob states ts:  ", LongMoment(figures.now, zone), "\nJobs pending:   ", figures.pending,
      "\nJobs running:   ", figures.running,
      "\n\nMain schedule statistics (microseconds):\n\tLast cycle:   ", figures.last_us,
      "\n\tMax cycle:    ", figures.longest_us, "\n\tTotal cycles: ", figures.cycles,
      "\n\tMean cycle:   ", figures.mean_us, "\n\tCycles per minute: ", figures.per_minute,
      "\n\tLast queue length: ", figures.pending, "\n", CallLines(figures.calls, words));
}

std::string DiagDocument(const Figures& figures) {
  return SlurmDocument("statistics",
                       {{"req_time", SlurmMoment(figures.now)},
                        {"req_time_start", SlurmMoment(figures.since)},
                        {"jobs_submitted", figures.submitted},
                        {"jobs_started", figures.started},
                        {"jobs_completed", figures.completed},
                        {"jobs_canceled", figures.cancelled},
                        {"jobs_failed", figures.failed},
                        {"jobs_pending", figures.pending},
                        {"jobs_running", figures.running},
                        {"schedule_cycle_last", figures.last_us},
                        {"schedule_cycle_max", figures.longest_us},
                        {"schedule_cycle_total", figures.cycles},
                        {"schedule_cycle_mean", figures.mean_us},
                        {"schedule_cycle_per_minute", figures.per_minute},
                        {"schedule_queue_length", figures.pending}},
                       figures.cluster);
}

}  // namespace

int RunSdiag(const Call& call) {
  int code = 0;
  const std::optional<Words> words = ReadCommand(call, kDiagRows, Operands::kAnywhere, &code);
  if (!words.has_value()) {
    return code;
  }
  const absl::StatusOr<bool> document = WantsDocument(*words);
  if (!document.ok()) {
    return Fail(call, std::string(document.status().message()));
  }
  if (words->Has("reset")) {
    return Fail(call, "--reset: the figures start again with the controller");
  }
  const absl::StatusOr<Figures> figures = FetchFigures(call, *words);
  if (!figures.ok()) {
    return FailPlainly(call, absl::StrCat("slurm_get_statistics: ", SlurmText(figures.status())));
  }
  call.out << (*document ? DiagDocument(*figures)
                         : DiagPage(*figures, *words, Clockface(call.environment).zone()))
           << std::flush;
  return 0;
}

}  // namespace muster::cli::slurm

#include "cli/slurm/live/cmd_sdiag.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
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
constexpr std::uint32_t kCountedMost = 10'000'000;

// What jobs did since midnight, and what they do.
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
};

void Count(const JobView& job, Figures& figures) {
  figures.submitted += job.submit_time >= figures.since ? 1 : 0;
  figures.started += job.start_time != kNoTime && job.start_time >= figures.since ? 1 : 0;
  if (job.end_time == kNoTime || job.end_time < figures.since) {
    return;
  }
  const bool cancelled = job.state == Name(JobState::kCancelled);
  const bool completed = job.state == Name(JobState::kCompleted);
  ++(cancelled ? figures.cancelled : completed ? figures.completed : figures.failed);
}

absl::StatusOr<Figures> FetchFigures(const Call& call, const Words& words) {
  Figures figures;
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenCluster(call));
  RETURN_IF_ERROR(CheckClusters(*connection, words.Value("cluster")));
  ASSIGN_OR_RETURN(const ClusterStatus status, connection->Call(Ping{}));
  figures.cluster = status.cluster;
  figures.pending = status.jobs_pending;
  figures.running = status.jobs_running;
  figures.now = SystemClock().Now();
  const absl::Time now = absl::FromUnixMillis(figures.now.time_since_epoch().count());
  const absl::TimeZone zone = Clockface(call.environment).zone();
  const absl::Time midnight = absl::FromCivil(absl::ToCivilDay(now, zone), zone);
  figures.since = Time(Duration(absl::ToUnixMillis(midnight)));
  ASSIGN_OR_RETURN(const std::vector<JobView> live, connection->Call(ListJobs{}));
  ASSIGN_OR_RETURN(const std::vector<JobView> ended,
                   connection->Call(ListHistory{{}, figures.since, kCountedMost}));
  std::set<JobId> seen;
  for (const std::vector<JobView>* jobs : {&live, &ended}) {
    for (const JobView& job : *jobs) {
      if (!seen.insert(job.id).second) {
        continue;  // it ended between the two questions
      }
      Count(job, figures);
    }
  }
  return figures;
}

// "Tue Nov 24 02:24:30 2026 (1795487070)".
std::string LongMoment(Time time, absl::TimeZone zone) {
  const std::int64_t milliseconds = time.time_since_epoch().count();
  return absl::StrCat(
      absl::FormatTime("%a %b %d %H:%M:%S %Y", absl::FromUnixMillis(milliseconds), zone), " (",
      milliseconds / 1000, ")");
}

std::string DiagPage(const Figures& figures, absl::TimeZone zone) {
  const std::string rule(55, '*');
  return absl::StrCat(
      rule, "\nsdiag output at ", LongMoment(figures.now, zone), "\nData since      ",
      LongMoment(figures.since, zone), "\n", rule, "\nJobs submitted: ", figures.submitted,
      "\nJobs started:   ", figures.started, "\nJobs completed: ", figures.completed,
      "\nJobs canceled:  ", figures.cancelled, "\nJobs failed:    ", figures.failed,
      "\n\nJob states ts:  ", LongMoment(figures.now, zone), "\nJobs pending:   ", figures.pending,
      "\nJobs running:   ", figures.running, "\n");
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
                        {"jobs_running", figures.running}},
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
    return Fail(call, "--reset: the figures are of today's jobs: they begin anew at midnight");
  }
  const absl::StatusOr<Figures> figures = FetchFigures(call, *words);
  if (!figures.ok()) {
    return FailPlainly(call, absl::StrCat("slurm_get_statistics: ", SlurmText(figures.status())));
  }
  call.out << (*document ? DiagDocument(*figures)
                         : DiagPage(*figures, Clockface(call.environment).zone()))
           << std::flush;
  return 0;
}

}  // namespace muster::cli::slurm

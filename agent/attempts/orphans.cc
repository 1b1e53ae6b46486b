#include "agent/attempts/orphans.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "agent/supervisor/attempt/journal.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/cgroup/cgroup_tree.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {
namespace {

// Between two looks at what is left of a dead attempt; SIGKILL takes effect well within it.
constexpr std::chrono::milliseconds kClearEvery{20};
// After this many looks the log says that something does not die (a process stuck in the kernel).
constexpr int kClearRoundsQuiet = 500;

// How much later than its record a process may seem to have started: ticks and wall clock are read
// at different instants and rounded.
constexpr std::chrono::milliseconds kClockSlack{1000};

// What every process of a job is started with.
constexpr std::string_view kJobVariable = "SLURM_JOB_ID=";

struct FoundProcess {
  pid_t pid = 0;
  pid_t group = 0;
  pid_t session = 0;
  ProcessStat stat;
};

// Every process of our user, or, as root, of any, that has not ended. Those that end while we look
// are left out.
absl::StatusOr<std::vector<FoundProcess>> OurProcesses() {
  std::vector<FoundProcess> found;
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc", error);
  while (!error && entry != std::filesystem::directory_iterator()) {
    FoundProcess process;
    struct stat info = {};
    const std::string path = entry->path().string();
    if (absl::SimpleAtoi(entry->path().filename().string(), &process.pid) &&
        stat(path.c_str(), &info) == 0 && (info.st_uid == geteuid() || geteuid() == 0)) {
      const absl::StatusOr<std::string> text = ReadFile(path + "/stat");
      const absl::StatusOr<ProcessStat> stat =
          text.ok() ? ParseProcessStat(*text) : absl::StatusOr<ProcessStat>(text.status());
      if (stat.ok() && stat->state != 'Z' && stat->state != 'X') {
        process.stat = *stat;
        process.group = getpgid(process.pid);
        process.session = getsid(process.pid);
        found.push_back(process);
      }
    }
    entry.increment(error);
  }
  if (error) {
    return absl::UnavailableError(absl::StrCat("/proc: ", error.message()));
  }
  return found;
}

Time StartedAt(const ProcessStat& stat) {
  const SystemClock clock;
  const auto since_boot = std::chrono::milliseconds(
      stat.start_time_ticks * 1000 / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK)));
  const auto boot_time = clock.Now() - std::chrono::duration_cast<std::chrono::milliseconds>(
                                           clock.SteadyNow().time_since_epoch());
  return boot_time + since_boot;
}

// The job that the process' environment names, as it was at its start; nothing when it names none
// in its first part, which is read: a user may make it megabytes.
std::optional<std::uint64_t> JobInEnvironment(pid_t pid) {
  constexpr std::size_t kReadMost = std::size_t{128} << 10;
  const UniqueFd file(open(absl::StrCat("/proc/", pid, "/environ").c_str(), O_RDONLY | O_CLOEXEC));
  std::string environment(file.valid() ? kReadMost : 0, '\0');
  std::size_t length = 0;
  for (ssize_t got = 1; got > 0 && length < environment.size();) {
    got = read(file.get(), environment.data() + length, environment.size() - length);
    length += got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  environment.resize(length);
  for (const auto entry : absl::StrSplit(environment, '\0')) {
    std::uint64_t job = 0;
    if (entry.substr(0, kJobVariable.size()) ==
            absl::string_view(kJobVariable.data(), kJobVariable.size()) &&
        absl::SimpleAtoi(entry.substr(kJobVariable.size()), &job)) {
      return job;
    }
  }
  return std::nullopt;
}

bool Belongs(const FoundProcess& process, const DeadAttempt& attempt,
             const std::function<bool(pid_t)>& is_supervisor) {
  if (process.pid == getpid() || is_supervisor(process.pid) ||
      process.stat.start_time_ticks < attempt.supervisor_start_ticks) {
    return false;
  }
  const std::optional<std::uint64_t> job = JobInEnvironment(process.pid);
  if (process.stat.parent_pid == getpid()) {
    return job.value_or(attempt.job) == attempt.job;
  }
  const auto is_one_of = [&process](pid_t pid) {
    return pid != 0 && (pid == process.pid || pid == process.group || pid == process.session);
  };
  // While a group or session lives its number is not reused: only a leader that is gone, and whose
  // successor is gone too, could mislead, and then the environment must confirm.
  const bool confirmed = job == attempt.job;
  if (is_one_of(attempt.supervisor)) {
    return confirmed;
  }
  return std::any_of(attempt.ranks.begin(), attempt.ranks.end(),
                     [&](const RecordedProcess& recorded) {
                       return is_one_of(recorded.pid) &&
                              (confirmed || StartedAt(process.stat) <= recorded.seen + kClockSlack);
                     });
}

// Kills by a pidfd that is checked to be the process that was found.
void KillFound(const FoundProcess& process, const std::string& boot_id) {
  const absl::StatusOr<UniqueFd> pidfd = OpenPidfd(
      {.pid = process.pid, .start_time_ticks = process.stat.start_time_ticks, .boot_id = boot_id});
  if (pidfd.ok()) {
    SendSignal(*pidfd, SIGKILL).IgnoreError();  // gone already, or seen again in the next round
  }
}

}  // namespace

absl::StatusOr<std::size_t> KillOrphans(const DeadAttempt& attempt,
                                        const std::function<bool(pid_t)>& is_supervisor) {
  ASSIGN_OR_RETURN(const std::string boot_id, ReadBootId());
  std::size_t left = 0;
  if (CgroupPopulated(attempt.cgroup)) {
    KillCgroup(attempt.cgroup);
    left = 1;  // or more; the caller comes again until nobody is there
  }
  ASSIGN_OR_RETURN(const std::vector<FoundProcess> processes, OurProcesses());
  for (const FoundProcess& process : processes) {
    if (Belongs(process, attempt, is_supervisor)) {
      KillFound(process, boot_id);
      ++left;
    }
  }
  return left;
}

Clearing::Clearing(EventLoop& loop, const Logger& log, Children& children, Cleared cleared)
    : loop_(loop),
      log_(log),
      children_(children),
      cleared_(std::move(cleared)),
      alive_(std::make_shared<const bool>(true)) {}

void Clearing::Round(const AttemptKey& key, const DeadAttempt& dead, int round) {
  const absl::StatusOr<std::size_t> left =
      KillOrphans(dead, [this](pid_t pid) { return children_.IsSupervisor(pid); });
  children_.Reap();
  if (left.ok() && *left == 0) {
    cleared_(key);
    return;
  }
  if (round == kClearRoundsQuiet) {
    log_.Error("attempts",
               absl::StrCat("what is left of ", ToString(key), " does not die: ",
                            left.ok() ? absl::StrCat(*left, " processes")
                                      : std::string(left.status().message())),
               ToString(key.job));
  }
  const std::weak_ptr<const bool> alive = alive_;
  loop_.RunAfter(kClearEvery * (round < kClearRoundsQuiet ? 1 : 50),
                 [this, alive, key, dead, round] {
                   if (!alive.expired()) {
                     Round(key, dead, round + 1);
                   }
                 });
}

DeadAttempt DeadAttemptIn(const AttemptDirectory& directory, JobId job, std::string cgroup) {
  DeadAttempt dead;
  dead.job = job.value();
  dead.cgroup = std::move(cgroup);
  const absl::StatusOr<ProcessIdentity> claim = ReadClaim(directory);
  if (claim.ok() && claim->pid != getpid()) {
    dead.supervisor = claim->pid;
    dead.supervisor_start_ticks = claim->start_time_ticks;
  }
  const absl::StatusOr<std::vector<Report>> reports =
      AttemptJournalReader(directory.Journal()).ReadNew();
  if (!reports.ok()) {
    return dead;
  }
  for (const Report& report : *reports) {
    if (const auto* read = std::get_if<BindingRead>(&report.fact)) {
      for (const RankBinding& rank : read->ranks) {
        dead.ranks.push_back({.pid = static_cast<pid_t>(rank.pid), .seen = read->time});
      }
    }
  }
  return dead;
}

}  // namespace muster::agent

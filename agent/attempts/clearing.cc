#include "agent/attempts/clearing.h"

#include <unistd.h>

#include <chrono>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/journal.h"

namespace muster::agent {
namespace {

// Between two looks at what is left of a dead attempt; SIGKILL takes effect well within it.
constexpr std::chrono::milliseconds kClearEvery{20};
// After so many looks the log says that something does not die (a process stuck in the kernel).
constexpr int kClearRoundsQuiet = 500;

}  // namespace

Clearing::Clearing(EventLoop& loop, const Logger& log, Children& children, Cleared cleared)
    : loop_(loop),
      log_(log),
      children_(children),
      cleared_(std::move(cleared)),
      alive_(std::make_shared<const bool>(true)) {}

void Clearing::Round(const AttemptKey& key, const DeadAttempt& dead, int round) {
  const absl::StatusOr<std::size_t> left =
      KillLeftovers(dead, [this](pid_t pid) { return children_.IsSupervisor(pid); });
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

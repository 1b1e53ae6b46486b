#include "agent/attempts/attempts.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "agent/attempts/attempt_status.h"
#include "agent/supervisor/attempt/journal.h"
#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/attempt/sampled_usage.h"
#include "agent/supervisor/scripts/lost_epilog.h"
#include "proto/supervisor.pb.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/cgroup/cgroup_tree.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

constexpr const char* kComponent = "attempts";
constexpr std::size_t kLogTailBytes = 300;

// The last words of a supervisor's log, for a report.
std::string LogTail(const AttemptDirectory& directory) {
  const absl::StatusOr<std::string> text = ReadFile(directory.Log());
  if (!text.ok() || text->empty()) {
    return "";
  }
  std::string tail = *text;
  absl::StripAsciiWhitespace(&tail);
  const std::size_t line = tail.rfind('\n');
  tail = line == std::string::npos ? tail : tail.substr(line + 1);
  return absl::StrCat(": ", tail.substr(0, kLogTailBytes));
}

// What the launch gives this node.
NodeAllocation PartOf(const LaunchOrder& launch) {
  for (const NodeAllocation& node : launch.allocation.nodes) {
    if (node.node == launch.node) {
      return node;
    }
  }
  return {};
}

absl::Status Record(const StateDirectory& state, const AttemptKey& key,
                    const SupervisorOrder& order) {
  const absl::Status made = state.MakeAttempt(key);
  return made.ok() || absl::IsAlreadyExists(made) ? WriteOrder(state.Attempt(key).Order(), order)
                                                  : made;
}

void LogDelay(const Logger& log, const AttemptKey& key, const absl::Status& why) {
  log.Error(kComponent,
            absl::StrCat(ToString(key), " cannot be started yet: ", std::string(why.message()),
                         "; trying again"),
            ToString(key.job));
}

// What a loss of power left of an attempt's journal. The controller takes an end whatever reports
// before it are gone.
void DropTornJournal(const std::string& path, const Logger& log, JobId job) {
  const absl::Status read = AttemptJournalReader(path).ReadNew().status();
  if (!read.ok()) {
    log.Warning(kComponent,
                absl::StrCat(std::string(read.message()), "; dropped: the node was restarted"),
                ToString(job));
    unlink(path.c_str());
  }
}

}  // namespace

Attempts::Attempts(EventLoop& loop, const Clock& clock, const Logger& log, StateDirectory& state,
                   Config config, News news)
    : loop_(loop),
      clock_(clock),
      log_(log),
      state_(state),
      config_(std::move(config)),
      news_(std::move(news)),
      starts_(clock, log, children_,
              {.program = config_.supervisor,
               .environment = config_.environment,
               .path_bytes =
                   state.Attempt({JobId(~JobId::rep{0}), AttemptNumber(~AttemptNumber::rep{0})})
                       .path()
                       .size()}),
      sweep_(loop, log, children_,
             {.program = config_.supervisor,
              .environment = config_.environment,
              .trash = state.trash()}),
      mps_(log, children_,
           {.supervisor = config_.supervisor,
            .environment = config_.environment,
            .base = config_.mps_base}),
      calls_(loop, log, state, config_.answer_within),
      clearing_(loop, log, children_, [this](const AttemptKey& key) { EndLost(key); }) {}

Attempts::~Attempts() {
  for (const auto& [key, attempt] : attempts_) {
    Unwatch(key);
  }
}

absl::Status Attempts::Recover() {
  RETURN_IF_ERROR(Children::BecomeSubreaper());
  ASSIGN_OR_RETURN(const std::vector<AttemptKey> keys, state_.ListAttempts());
  for (const AttemptKey& key : keys) {
    LocalAttempt& attempt = attempts_[key];
    // No order: none was taken, or Settle() will find that it cannot be started.
    if (const absl::StatusOr<SupervisorOrder> order = ReadOrder(state_.Attempt(key).Order());
        order.ok()) {
      attempt.cgroup = order->cgroup;
      attempt.elastic = order->launch.spec.elastic;
      attempt.allocation = PartOf(order->launch);
      attempt.mps = mps_.IsOurs(order->machine.mps) ? order->machine.mps : "";
    }
    Settle(key);
  }
  if (state_.has_trash()) {
    sweep_.Begin();
  }
  return state_.ConfirmBoot();
}

absl::Status Attempts::Launch(SupervisorOrder order, const NodeAllocation& allocation) {
  const AttemptKey key{order.launch.job, order.launch.attempt};
  if (AllocationOf(key) != nullptr) {
    return absl::AlreadyExistsError(absl::StrCat(ToString(key), " is known here"));
  }
  order.cgroup = config_.cgroups.PathFor(ToString(key));
  order.limits = config_.limits;
  order.scripts = config_.scripts;
  order.private_tmp = config_.private_tmp;
  const bool share = order.containers.share && config_.containers.share;
  order.containers = config_.containers;
  order.network = config_.network;
  order.staging = config_.staging;
  order.containers.share = share;
  LocalAttempt& attempt = attempts_[key];
  if (!order.launch.spec.request.gpu_share.zero()) {
    order.machine.mps = mps_.Serve(order.launch.spec.user.uid, order.launch.spec.user.gid,
                                   order.machine, allocation);
    attempt.mps = mps_.IsOurs(order.machine.mps) ? order.machine.mps : "";
  }
  attempt.allocation = allocation;
  attempt.cgroup = order.cgroup;
  attempt.elastic = order.launch.spec.elastic;
  attempt.unbegun = std::move(order);
  Settle(key);
  return absl::OkStatus();
}

void Attempts::Refuse(const AttemptKey& key, const std::string& text) {
  if (AllocationOf(key) == nullptr) {
    attempts_[key] = LocalAttempt();
    End(key, EndCause::kLaunchFailed, text);
  }
}

absl::Status Attempts::Pass(const PassedOrder& order) {
  const AttemptKey& key = order.key;
  const auto found = attempts_.find(key);
  const bool supervised = found != attempts_.end() && found->second.phase == Phase::kSupervised;
  if (order.starts_step && !supervised) {
    return absl::NotFoundError("the attempt is not running here");
  }
  if (found == attempts_.end()) {
    if (!order.ends_attempt) {
      return absl::NotFoundError("it is not known here");
    }
    attempts_[key] = LocalAttempt();
    End(key, EndCause::kNeverStarted, "its order to end came before its order to start");
    return absl::OkStatus();
  }
  if (found->second.unbegun.has_value() && order.ends_attempt) {
    found->second.unbegun.reset();
    End(key, EndCause::kNeverStarted, "it was ended before it could be started");
    return absl::OkStatus();
  }
  if (supervised && order.ends_attempt) {
    // It does not listen (stopped, or stuck): its end is then ours to bring about. Where it is
    // gone, the pidfd says so too.
    calls_.SendEnd(key, order.packet, [&attempt = found->second] {
      if (attempt.pidfd.valid()) {
        SendSignal(attempt.pidfd, SIGKILL).IgnoreError();
      }
    });
  } else if (supervised) {
    calls_.Send(key, order.packet, order.what);
  }
  return absl::OkStatus();
}

void Attempts::RenewLeases(SteadyTime until) {
  wire::SupervisorCommand command;
  command.mutable_lease()->set_until(
      std::chrono::floor<std::chrono::milliseconds>(until.time_since_epoch()).count());
  const std::string packet = command.SerializeAsString();
  for (const auto& [key, attempt] : attempts_) {
    if (attempt.elastic && attempt.phase == Phase::kSupervised) {
      calls_.Send(key, packet, "lease of");
    }
  }
}

void Attempts::Remove(const AttemptKey& key) {
  const auto found = attempts_.find(key);
  if (found == attempts_.end()) {
    return;
  }
  Unwatch(key);
  children_.Forget(found->second.child);
  RemoveCgroup(found->second.cgroup);
  attempts_.erase(found);
  children_.Reap();
  const absl::StatusOr<bool> removed = state_.RemoveAttempt(key);
  if (!removed.ok()) {
    log_.Error(kComponent, std::string(removed.status().message()), ToString(key.job));
  } else if (!*removed) {
    sweep_.Begin();
  }
}

std::map<AttemptKey, RunningAttempt> Attempts::Running() const {
  std::map<AttemptKey, RunningAttempt> running;
  for (const auto& [key, attempt] : attempts_) {
    if (attempt.phase == Phase::kSupervised) {
      running.emplace(key, RunningAttempt{&attempt.allocation, attempt.cgroup, attempt.supervisor});
    }
  }
  return running;
}

std::vector<AttemptKey> Attempts::Keys() const {
  std::vector<AttemptKey> keys;
  for (const auto& [key, attempt] : attempts_) {
    keys.push_back(key);
  }
  return keys;
}

std::vector<KnownAttempt> Attempts::Known() const {
  std::vector<KnownAttempt> known;
  for (const auto& [key, attempt] : attempts_) {
    known.push_back({.job = key.job,
                     .attempt = key.attempt,
                     .ended = attempt.phase == Phase::kEnded,
                     .allocation = attempt.allocation,
                     .frozen = attempt.phase == Phase::kSupervised &&
                               EndsFrozen(state_.Attempt(key).Journal())});
    // Nobody asks for their places, and of many attempts they would not fit into a message.
    known.back().allocation.ranks.clear();
  }
  return known;
}

void Attempts::Check() {
  children_.Reap();
  starts_.Check();
  for (const AttemptKey& key : Keys()) {
    if (attempts_.at(key).phase == Phase::kUnsettled) {
      Settle(key);
    }
  }
  if (!mps_.any()) {
    return;
  }
  std::set<std::string> used;
  for (const auto& [key, attempt] : attempts_) {
    if (!attempt.mps.empty() && attempt.phase != Phase::kEnded) {
      used.insert(attempt.mps);
    }
  }
  mps_.Keep(used);
}

void Attempts::Settle(const AttemptKey& key) {
  LocalAttempt& attempt = attempts_.at(key);
  attempt.phase = Phase::kUnsettled;
  if (attempt.unwritten.has_value()) {
    WriteEnd(key);
    return;
  }
  if (attempt.unbegun.has_value()) {
    if (const absl::Status recorded = Record(state_, key, *attempt.unbegun); !recorded.ok()) {
      LogDelay(log_, key, recorded);
      return;
    }
    StartSupervisor(key);
    return;
  }
  const absl::StatusOr<AttemptStatus> status =
      ReadAttemptStatus(state_.Attempt(key), state_.boot_id(), state_.rebooted());
  if (!status.ok()) {
    log_.Error(kComponent,
               absl::StrCat("cannot tell how ", ToString(key),
                            " stands: ", std::string(status.status().message())),
               ToString(key.job));
    return;
  }
  switch (*status) {
    case AttemptStatus::kEnded:
      attempt.phase = Phase::kEnded;
      news_(key);
      return;
    case AttemptStatus::kEmpty:
      Remove(key);
      return;
    case AttemptStatus::kUnclaimed:
      if (attempt.tried) {
        FailLaunch(key, absl::StrCat("its supervisor ", attempt.failure, " before it began",
                                     LogTail(state_.Attempt(key))));
      } else {
        StartSupervisor(key);
      }
      return;
    case AttemptStatus::kSupervised:
      Adopt(key, ReadClaim(state_.Attempt(key)), Phase::kSupervised);
      return;
    case AttemptStatus::kDead:
      attempt.phase = Phase::kClearing;
      log_.Error(
          kComponent,
          absl::StrCat("lost the supervisor of ", ToString(key), ", which ",
                       attempt.failure.empty() ? "ended while no agent watched" : attempt.failure,
                       LogTail(state_.Attempt(key)), "; clearing up"),
          ToString(key.job));
      clearing_.Begin(key, DeadAttemptIn(state_.Attempt(key), key.job, attempt.cgroup));
      return;
    case AttemptStatus::kEpilog:
      Adopt(key, ReadEpilogClaim(state_.Attempt(key)), Phase::kClearing);
      return;
    case AttemptStatus::kOtherBoot:
      DropTornJournal(state_.Attempt(key).Journal(), log_, key.job);
      End(key, EndCause::kNodeRebooted, "the node was restarted");
      return;
  }
}

void Attempts::StartSupervisor(const AttemptKey& key) {
  LocalAttempt& attempt = attempts_.at(key);
  const absl::StatusOr<pid_t> pid = starts_.Start(state_.Attempt(key));
  if (absl::IsResourceExhausted(pid.status()) || absl::IsUnavailable(pid.status())) {
    LogDelay(log_, key, pid.status());
    return;
  }
  attempt.unbegun.reset();
  if (!pid.ok()) {
    FailLaunch(key, std::string(pid.status().message()));
    return;
  }
  attempt.child = *pid;
  const absl::Status watched = Watch(key, *pid, OpenChildPidfd(*pid));
  if (!watched.ok()) {
    // It runs and will claim: the next check finds it by its claim.
    log_.Error(kComponent, std::string(watched.message()), ToString(key.job));
    attempt.tried = true;
    attempt.failure = "could not be watched";
  }
}

void Attempts::FailLaunch(const AttemptKey& key, const std::string& text) {
  const absl::StatusOr<ProcessIdentity> self = ReadIdentity(getpid());
  const absl::Status claimed = self.ok() ? TakeClaim(state_.Attempt(key), *self) : self.status();
  if (absl::IsAlreadyExists(claimed)) {
    Settle(key);  // another supervisor was quicker
  } else if (claimed.ok()) {
    End(key, EndCause::kLaunchFailed, text);
  } else {
    // Without the claim the end may not be written: somebody might still begin.
    attempts_.at(key).tried = true;
    attempts_.at(key).failure = "could not be started";
    log_.Error(kComponent, std::string(claimed.message()), ToString(key.job));
  }
}

void Attempts::Adopt(const AttemptKey& key, const absl::StatusOr<ProcessIdentity>& claim,
                     Phase phase) {
  const absl::Status watched =
      claim.ok() ? Watch(key, claim->pid, OpenPidfd(*claim)) : claim.status();
  if (!watched.ok()) {
    // It ended just now, or cannot be watched; either way the next check looks again.
    log_.Warning(kComponent, std::string(watched.message()), ToString(key.job));
    return;
  }
  children_.AddIfOurs(claim->pid);  // of a start whose answer was lost
  attempts_.at(key).phase = phase;
  const bool epilog = phase == Phase::kClearing;
  log_.Info(kComponent,
            absl::StrCat("adopted ", epilog ? "the epilog of " : "", ToString(key),
                         ", supervised by ", claim->pid),
            ToString(key.job));
  if (!epilog) {
    news_(key);
  }
}

absl::Status Attempts::Watch(const AttemptKey& key, pid_t pid, absl::StatusOr<UniqueFd> pidfd) {
  LocalAttempt& attempt = attempts_.at(key);
  RETURN_IF_ERROR(pidfd.status());
  attempt.pidfd = *std::move(pidfd);
  absl::Status watched = loop_.Watch(attempt.pidfd.get(), EPOLLIN,
                                     [this, key](std::uint32_t) { SupervisorEnded(key); });
  if (!watched.ok()) {
    attempt.pidfd.reset();
    return watched;
  }
  attempt.supervisor = pid;
  attempt.phase = Phase::kSupervised;
  return absl::OkStatus();
}

void Attempts::Unwatch(const AttemptKey& key) {
  calls_.Forget(key);
  UniqueFd& pidfd = attempts_.at(key).pidfd;
  if (pidfd.valid()) {
    loop_.Unwatch(pidfd.get());
    pidfd.reset();
  }
}

void Attempts::SupervisorEnded(const AttemptKey& key) {
  LocalAttempt& attempt = attempts_.at(key);
  Unwatch(key);
  children_.Reap();
  attempt.tried = true;
  attempt.failure = children_.TakeEnd(std::exchange(attempt.child, 0)).value_or("ended");
  Settle(key);
}

void Attempts::EndLost(const AttemptKey& key) {
  const absl::StatusOr<SupervisorOrder> order = ReadOrder(state_.Attempt(key).Order());
  const SiteScript epilog = order.ok() ? order->scripts.epilog : SiteScript();
  const absl::Status started = epilog.given() ? StartEpilog(key, epilog) : absl::OkStatus();
  if (!epilog.given() || !started.ok()) {
    End(key, EndCause::kLostSupervisor, kLostSupervisorText, std::string(started.message()));
  }
}

// An error says what is then wrong with the node.
absl::Status Attempts::StartEpilog(const AttemptKey& key, const SiteScript& epilog) {
  LocalAttempt& attempt = attempts_.at(key);
  const AttemptDirectory directory = state_.Attempt(key);
  if (!absl::IsNotFound(ReadEpilogClaim(directory).status())) {
    return absl::AbortedError(
        absl::StrCat("epilog ", epilog.program,
                     ": perhaps not run to its end: the process that ran it was killed"));
  }
  if (std::exchange(attempt.epilog_tried, true)) {
    return absl::AbortedError(
        absl::StrCat("epilog ", epilog.program, ": not run: its process ", attempt.failure));
  }
  const absl::StatusOr<pid_t> pid = starts_.Start(directory, /*what=*/"--epilog");
  if (!pid.ok()) {
    return absl::AbortedError(absl::StrCat("epilog ", epilog.program,
                                           ": not run: ", std::string(pid.status().message())));
  }
  attempt.child = *pid;
  const absl::Status watched = Watch(key, *pid, OpenChildPidfd(*pid));
  // It runs and will claim: the next check finds it by its claim.
  attempt.phase = watched.ok() ? Phase::kClearing : Phase::kUnsettled;
  return absl::OkStatus();
}

void Attempts::End(const AttemptKey& key, EndCause cause, const std::string& text,
                   const std::string& node_fault) {
  RunEnded ended;
  ended.time = clock_.Now();
  ended.cause = cause;
  ended.text = text;
  ended.node_fault = node_fault;
  ended.usage = ReadSampledUsage(state_.Attempt(key).Sampled());
  if (cause == EndCause::kLaunchFailed) {
    ended.status.code = 1;
  } else if (cause != EndCause::kNeverStarted) {
    ended.status.signal = SIGKILL;  // how it ended is not known, and it is never a success
  }
  attempts_.at(key).unwritten = std::move(ended);
  WriteEnd(key);
}

void Attempts::WriteEnd(const AttemptKey& key) {
  LocalAttempt& attempt = attempts_.at(key);
  state_.MakeAttempt(key).IgnoreError();  // most often it is there; else the journal says why not
  absl::StatusOr<JournalWriter> journal =
      JournalWriter::Open(state_.Attempt(key).Journal(), key.job, key.attempt);
  const absl::Status status = journal.ok() ? journal->Append(*attempt.unwritten) : journal.status();
  if (!status.ok()) {
    attempt.phase = Phase::kUnsettled;
    log_.Error(kComponent, absl::StrCat(std::string(status.message()), "; trying again"),
               ToString(key.job));
    return;
  }
  log_.Warning(kComponent, absl::StrCat(ToString(key), " ended: ", attempt.unwritten->text),
               ToString(key.job));
  attempt.unwritten.reset();
  attempt.phase = Phase::kEnded;
  news_(key);
}

}  // namespace muster::agent

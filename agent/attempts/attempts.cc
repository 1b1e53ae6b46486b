#include "agent/attempts/attempts.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "agent/attempts/attempt_status.h"
#include "agent/supervisor/attempt/journal.h"
#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/attempt/sampled_usage.h"
#include "agent/supervisor/scripts/lost_epilog.h"
#include "proto/convert/convert.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/cgroup/cgroup_tree.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

constexpr const char* kComponent = "attempts";
// Between two looks at what is left of a dead attempt; SIGKILL takes effect well within it.
constexpr std::chrono::milliseconds kClearEvery{20};
// After so many looks the log says that something does not die (a process stuck in the kernel).
constexpr int kClearRoundsQuiet = 500;
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

template <class Order>
std::string Packet(const Order& order) {
  wire::SupervisorCommand command;
  if constexpr (std::is_same_v<Order, StepOrder>) {
    ToWire(order, command.mutable_step());
  } else if constexpr (std::is_same_v<Order, SuspendOrder>) {
    ToWire(order, command.mutable_suspend());
  } else if constexpr (std::is_same_v<Order, SignalOrder>) {
    ToWire(order, command.mutable_signal());
  } else if constexpr (std::is_same_v<Order, AttachOrder>) {
    ToWire(order, command.mutable_attach());
  } else if constexpr (std::is_same_v<Order, AdviceOrder>) {
    ToWire(order, command.mutable_advice());
  } else {
    ToWire(order, command.mutable_terminate());
  }
  return command.SerializeAsString();
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
      alive_(std::make_shared<const bool>(true)) {}

Attempts::~Attempts() {
  for (auto& [key, attempt] : attempts_) {
    Unwatch(&attempt);
  }
}

absl::Status Attempts::Recover() {
  RETURN_IF_ERROR(Children::BecomeSubreaper());
  ASSIGN_OR_RETURN(const std::vector<AttemptKey> keys, state_.ListAttempts());
  for (const AttemptKey& key : keys) {
    ReadAllocation(key, &attempts_[key]);
    Settle(key);
  }
  if (state_.has_trash()) {
    sweep_.Begin();
  }
  return state_.ConfirmBoot();
}

void Attempts::ReadAllocation(const AttemptKey& key, LocalAttempt* attempt) {
  const absl::StatusOr<SupervisorOrder> order = ReadOrder(state_.Attempt(key).Order());
  if (!order.ok()) {
    return;  // none was taken, or Settle() will find that it cannot be started
  }
  attempt->cgroup = order->cgroup;
  attempt->elastic = order->launch.spec.elastic;
  for (const NodeAllocation& node : order->launch.allocation.nodes) {
    if (node.node == order->launch.node) {
      attempt->allocation = node;
    }
  }
}

absl::Status Attempts::Launch(SupervisorOrder order, const NodeAllocation& allocation) {
  const AttemptKey key{order.launch.job, order.launch.attempt};
  RETURN_IF_ERROR(state_.MakeAttempt(key));
  order.cgroup = config_.cgroups.PathFor(ToString(key));
  order.limits = config_.limits;
  order.scripts = config_.scripts;
  order.private_tmp = config_.private_tmp;
  LocalAttempt& attempt = attempts_[key];
  attempt.allocation = allocation;
  attempt.cgroup = order.cgroup;
  attempt.elastic = order.launch.spec.elastic;
  absl::Status written = WriteOrder(state_.Attempt(key).Order(), order);
  if (!written.ok()) {
    attempts_.erase(key);
    state_.RemoveAttempt(key).IgnoreError();  // empty: nothing is kept there
    return written;
  }
  StartSupervisor(key);
  return absl::OkStatus();
}

void Attempts::Refuse(const AttemptKey& key, const std::string& text) {
  if (attempts_.count(key) == 0 && state_.MakeAttempt(key).ok()) {
    attempts_[key] = LocalAttempt();
    End(key, EndCause::kLaunchFailed, text);
  }
}

absl::Status Attempts::StartStep(const StepOrder& order) {
  const AttemptKey key{order.job, order.attempt};
  const auto found = attempts_.find(key);
  if (found == attempts_.end() || found->second.phase != Phase::kSupervised) {
    return absl::NotFoundError(absl::StrCat("attempt ", ToString(key), " is not running here"));
  }
  Control(key).Send(Packet(order), [this, key, step = order.step](const absl::Status& status) {
    if (!status.ok()) {
      log_.Warning(kComponent,
                   absl::StrCat(ToString(key), " did not take step ", step.value(), ": ",
                                std::string(status.message())),
                   ToString(key.job));
    }
  });
  return absl::OkStatus();
}

absl::Status Attempts::Terminate(const TerminateOrder& order) {
  const AttemptKey key{order.job, order.attempt};
  const auto found = attempts_.find(key);
  if (found == attempts_.end()) {
    RETURN_IF_ERROR(state_.MakeAttempt(key));
    attempts_[key] = LocalAttempt();
    End(key, EndCause::kNeverStarted, "its order to end came before its order to start");
  } else if (found->second.phase == Phase::kSupervised) {
    Control(key).Send(Packet(order),
                      [this, key](const absl::Status& status) { TerminateAnswered(key, status); });
  }
  return absl::OkStatus();
}

absl::Status Attempts::Suspend(const SuspendOrder& order) {
  return Pass({order.job, order.attempt}, Packet(order), "a suspension");
}

absl::Status Attempts::Signal(const SignalOrder& order) {
  return Pass({order.job, order.attempt}, Packet(order), "a signal");
}

absl::Status Attempts::Attach(const AttachOrder& order) {
  return Pass({order.job, order.attempt}, Packet(order), "an onlooker");
}

absl::Status Attempts::Advise(const AdviceOrder& order) {
  return Pass({order.job, order.attempt}, Packet(order), "advice");
}

void Attempts::RenewLeases(SteadyTime until) {
  wire::SupervisorCommand command;
  command.mutable_lease()->set_until(
      std::chrono::floor<std::chrono::milliseconds>(until.time_since_epoch()).count());
  const std::string packet = command.SerializeAsString();
  for (const auto& [key, attempt] : attempts_) {
    if (attempt.elastic && attempt.phase == Phase::kSupervised) {
      Pass(key, packet, "its lease").IgnoreError();  // it is known here
    }
  }
}

absl::Status Attempts::Pass(const AttemptKey& key, std::string packet, const char* what) {
  const auto found = attempts_.find(key);
  if (found == attempts_.end()) {
    return absl::NotFoundError("it is not known here");
  }
  if (found->second.phase == Phase::kSupervised) {
    Control(key).Send(std::move(packet), [this, key, what](const absl::Status& status) {
      if (!status.ok()) {
        log_.Warning(kComponent,
                     absl::StrCat(ToString(key), " did not take ", what, ": ",
                                  std::string(status.message())),
                     ToString(key.job));
      }
    });
  }
  return absl::OkStatus();
}

void Attempts::Remove(const AttemptKey& key) {
  const auto found = attempts_.find(key);
  if (found == attempts_.end()) {
    return;
  }
  Unwatch(&found->second);
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
                     .allocation = attempt.allocation});
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
}

void Attempts::Settle(const AttemptKey& key) {
  LocalAttempt& attempt = attempts_.at(key);
  attempt.phase = Phase::kUnsettled;
  if (attempt.unwritten.has_value()) {
    WriteEnd(key);
    return;
  }
  const absl::StatusOr<Standing> standing =
      ReadStanding(state_.Attempt(key), state_.boot_id(), state_.rebooted());
  if (!standing.ok()) {
    log_.Error(kComponent,
               absl::StrCat("cannot tell how ", ToString(key),
                            " stands: ", std::string(standing.status().message())),
               ToString(key.job));
    return;
  }
  switch (*standing) {
    case Standing::kEnded:
      attempt.phase = Phase::kEnded;
      news_(key);
      return;
    case Standing::kEmpty:
      Remove(key);
      return;
    case Standing::kUnclaimed:
      if (attempt.tried) {
        FailLaunch(key, absl::StrCat("its supervisor ", attempt.failure, " before it began",
                                     LogTail(state_.Attempt(key))));
      } else {
        StartSupervisor(key);
      }
      return;
    case Standing::kSupervised:
      Adopt(key);
      return;
    case Standing::kDead:
      Clear(key);
      return;
    case Standing::kEpilog:
      WatchEpilog(key);
      return;
    case Standing::kOtherBoot:
      End(key, EndCause::kNodeRebooted, "the node was restarted");
      return;
  }
}

void Attempts::StartSupervisor(const AttemptKey& key) {
  LocalAttempt& attempt = attempts_.at(key);
  const absl::StatusOr<pid_t> pid = starts_.Start(state_.Attempt(key));
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

void Attempts::Adopt(const AttemptKey& key) {
  const absl::StatusOr<ProcessIdentity> claim = ReadClaim(state_.Attempt(key));
  const absl::Status watched =
      claim.ok() ? Watch(key, claim->pid, OpenPidfd(*claim)) : claim.status();
  if (!watched.ok()) {
    // It ended just now, or cannot be watched; either way the next check looks again.
    log_.Warning(kComponent, std::string(watched.message()), ToString(key.job));
    return;
  }
  children_.AddIfOurs(claim->pid);  // of a start whose answer was lost
  log_.Info(kComponent, absl::StrCat("adopted ", ToString(key), ", supervised by ", claim->pid),
            ToString(key.job));
  news_(key);
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

void Attempts::Unwatch(LocalAttempt* attempt) {
  attempt->control.reset();
  if (attempt->pidfd.valid()) {
    loop_.Unwatch(attempt->pidfd.get());
    attempt->pidfd.reset();
  }
}

void Attempts::SupervisorEnded(const AttemptKey& key) {
  LocalAttempt& attempt = attempts_.at(key);
  Unwatch(&attempt);
  children_.Reap();
  attempt.tried = true;
  attempt.failure = children_.TakeEnd(std::exchange(attempt.child, 0)).value_or("ended");
  Settle(key);
}

DeadAttempt Attempts::Dead(const AttemptKey& key) const {
  DeadAttempt dead;
  dead.job = key.job.value();
  dead.cgroup = attempts_.at(key).cgroup;
  const absl::StatusOr<ProcessIdentity> claim = ReadClaim(state_.Attempt(key));
  if (claim.ok() && claim->pid != getpid()) {
    dead.supervisor = claim->pid;
    dead.supervisor_start_ticks = claim->start_time_ticks;
  }
  const absl::StatusOr<std::vector<Report>> reports =
      AttemptJournalReader(state_.Attempt(key).Journal()).ReadNew();
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

void Attempts::Clear(const AttemptKey& key) {
  attempts_.at(key).phase = Phase::kClearing;
  log_.Error(kComponent,
             absl::StrCat("lost the supervisor of ", ToString(key), ", which ",
                          attempts_.at(key).failure.empty() ? "ended while no agent watched"
                                                            : attempts_.at(key).failure,
                          LogTail(state_.Attempt(key)), "; clearing up"),
             ToString(key.job));
  ClearRound(key, Dead(key), 0);
}

void Attempts::ClearRound(const AttemptKey& key, const DeadAttempt& dead, int round) {
  const absl::StatusOr<std::size_t> left =
      KillLeftovers(dead, [this](pid_t pid) { return children_.IsSupervisor(pid); });
  children_.Reap();
  if (left.ok() && *left == 0) {
    EndLost(key);
    return;
  }
  if (round == kClearRoundsQuiet) {
    log_.Error(kComponent,
               absl::StrCat("what is left of ", ToString(key), " does not die: ",
                            left.ok() ? absl::StrCat(*left, " processes")
                                      : std::string(left.status().message())),
               ToString(key.job));
  }
  const std::weak_ptr<const bool> alive = alive_;
  loop_.RunAfter(kClearEvery * (round < kClearRoundsQuiet ? 1 : 50),
                 [this, alive, key, dead, round] {
                   if (!alive.expired()) {
                     ClearRound(key, dead, round + 1);
                   }
                 });
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

void Attempts::WatchEpilog(const AttemptKey& key) {
  const absl::StatusOr<ProcessIdentity> claim = ReadEpilogClaim(state_.Attempt(key));
  if (claim.ok() && Watch(key, claim->pid, OpenPidfd(*claim)).ok()) {
    attempts_.at(key).phase = Phase::kClearing;
    log_.Info(kComponent, absl::StrCat("adopted the epilog of ", ToString(key)), ToString(key.job));
  }
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

ControlCall& Attempts::Control(const AttemptKey& key) {
  LocalAttempt& attempt = attempts_.at(key);
  if (attempt.control == nullptr) {
    attempt.control =
        std::make_unique<ControlCall>(loop_, state_.Attempt(key).Control(), config_.answer_within);
  }
  return *attempt.control;
}

void Attempts::TerminateAnswered(const AttemptKey& key, const absl::Status& status) {
  if (status.ok()) {
    return;
  }
  log_.Warning(kComponent,
               absl::StrCat(ToString(key),
                            " did not receive its order to end: ", std::string(status.message())),
               ToString(key.job));
  const LocalAttempt& attempt = attempts_.at(key);
  if (absl::IsDeadlineExceeded(status) && attempt.pidfd.valid()) {
    // It does not listen (stopped, or stuck): its end is then ours to bring about.
    SendSignal(attempt.pidfd, SIGKILL).IgnoreError();  // gone: the pidfd says so too
  }
}

}  // namespace muster::agent

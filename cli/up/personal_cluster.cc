#include "cli/up/personal_cluster.h"

#include <sys/epoll.h>

#include <algorithm>
#include <csignal>

#include "absl/strings/str_cat.h"
#include "scheduler/base/utf8.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kReadyPatience{20'000};
constexpr milliseconds kStopPatience{10'000};
constexpr milliseconds kPauseMin{200};
constexpr milliseconds kPauseMax{10'000};
constexpr std::chrono::seconds kSettled{30};  // a daemon that ran so long starts again at kPauseMin

}  // namespace

PersonalCluster::PersonalCluster(EventLoop& loop, std::vector<DaemonSpec> daemons,
                                 std::vector<std::string> environment, Handlers handlers)
    : loop_(loop), environment_(std::move(environment)), handlers_(std::move(handlers)) {
  for (DaemonSpec& spec : daemons) {
    daemons_.emplace_back();
    daemons_.back().spec = std::move(spec);
  }
}

PersonalCluster::~PersonalCluster() {
  for (Daemon& daemon : daemons_) {
    Forget(daemon);
  }
}

void PersonalCluster::Start() {
  StartDaemon(0);
}

void PersonalCluster::StartDaemon(std::size_t index) {
  if (stopping_) {
    return;
  }
  Daemon& daemon = daemons_[index];
  absl::StatusOr<DaemonChild> child = DaemonChild::Start(daemon.spec, environment_);
  if (!child.ok()) {
    if (daemon.was_ready) {
      Restart(index, std::string(child.status().message()));
    } else {
      Fail(child.status());
    }
    return;
  }
  daemon.child = *std::move(child);
  daemon.ready = false;
  daemon.started = clock_.SteadyNow();
  const pid_t pid = daemon.child->pid();
  absl::Status watched = loop_.Watch(daemon.child->ready_fd(), EPOLLIN,
                                     [this, index](std::uint32_t) { OnReady(index); });
  watched.Update(
      loop_.Watch(daemon.child->end_fd(), EPOLLIN, [this, index](std::uint32_t) { OnEnd(index); }));
  if (!watched.ok()) {
    Fail(watched);
    return;
  }
  loop_.RunAfter(kReadyPatience, [this, index, pid] { OnLate(index, pid); });
}

void PersonalCluster::OnReady(std::size_t index) {
  Daemon& daemon = daemons_[index];
  loop_.Unwatch(daemon.child->ready_fd());
  if (!daemon.child->TakeReady()) {
    return;  // It closed the pipe without a word: its end comes next.
  }
  daemon.ready = true;
  if (daemon.was_ready) {
    handlers_.tell(absl::StrCat(daemon.spec.name, " is back"));
  }
  daemon.was_ready = true;
  if (index == 0 && !ready_told_) {
    for (std::size_t i = 1; i < daemons_.size(); ++i) {
      if (!daemons_[i].child.has_value()) {
        StartDaemon(i);
      }
    }
  }
  if (!ready_told_ && !stopping_ && AllReady()) {
    ready_told_ = true;
    handlers_.ready();
  }
}

void PersonalCluster::OnLate(std::size_t index, pid_t pid) {
  const Daemon& daemon = daemons_[index];
  if (stopping_ || daemon.ready || !daemon.child.has_value() || daemon.child->pid() != pid) {
    return;
  }
  const std::string line = absl::StrCat(daemon.spec.name, " is not ready after ",
                                        kReadyPatience.count() / 1000, " s: see ", daemon.spec.log);
  if (daemon.was_ready) {
    handlers_.tell(line);
  } else {
    Fail(absl::DeadlineExceededError(line));
  }
}

void PersonalCluster::OnEnd(std::size_t index) {
  Daemon& daemon = daemons_[index];
  const std::optional<std::string> how = daemon.child->Reap();
  if (!how.has_value()) {
    return;
  }
  const std::string last = EscapeControl(daemon.child->LastLogLine());
  Forget(daemon);
  if (stopping_) {
    if (!AnyRunning() && !stopped_) {
      stopped_ = true;
      handlers_.stopped(result_);
    }
  } else if (daemon.was_ready) {
    Restart(index, *how);
  } else {
    Fail(absl::AbortedError(
        absl::StrCat(daemon.spec.name, " did not start (", *how,
                     "): ", last.empty() ? absl::StrCat("see ", daemon.spec.log) : last)));
  }
}

void PersonalCluster::Restart(std::size_t index, const std::string& how) {
  Daemon& daemon = daemons_[index];
  const bool settled = clock_.SteadyNow() - daemon.started >= kSettled;
  daemon.pause =
      settled || daemon.pause < kPauseMin ? kPauseMin : std::min(daemon.pause * 2, kPauseMax);
  handlers_.tell(absl::StrCat(daemon.spec.name, " ended (", how, "); starting it again in ",
                              daemon.pause.count(), " ms"));
  loop_.RunAfter(daemon.pause, [this, index] { StartDaemon(index); });
}

void PersonalCluster::Fail(absl::Status status) {
  if (!stopping_) {
    result_ = std::move(status);
    Stop();
  }
}

void PersonalCluster::Stop() {
  if (stopping_) {
    return;
  }
  stopping_ = true;
  for (const Daemon& daemon : daemons_) {
    if (daemon.child.has_value()) {
      daemon.child->Signal(SIGTERM);
    }
  }
  if (!AnyRunning()) {
    stopped_ = true;
    loop_.RunAfter(std::chrono::nanoseconds(0), [this] { handlers_.stopped(result_); });
    return;
  }
  loop_.RunAfter(kStopPatience, [this] { KillRest(); });
}

void PersonalCluster::KillRest() {
  for (const Daemon& daemon : daemons_) {
    if (daemon.child.has_value()) {
      handlers_.tell(absl::StrCat(daemon.spec.name, " does not end; killing it (jobs go on)"));
      daemon.child->Signal(SIGKILL);
    }
  }
}

bool PersonalCluster::AllReady() const {
  return std::all_of(daemons_.begin(), daemons_.end(),
                     [](const Daemon& daemon) { return daemon.ready; });
}

bool PersonalCluster::AnyRunning() const {
  return std::any_of(daemons_.begin(), daemons_.end(),
                     [](const Daemon& daemon) { return daemon.child.has_value(); });
}

void PersonalCluster::Forget(Daemon& daemon) {
  if (daemon.child.has_value()) {
    loop_.Unwatch(daemon.child->ready_fd());
    loop_.Unwatch(daemon.child->end_fd());
    daemon.child.reset();
    daemon.ready = false;
  }
}

}  // namespace muster::cli

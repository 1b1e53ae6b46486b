#include "agent/supervisor/scripts/lost_epilog.h"

#include <sys/epoll.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "agent/supervisor/attempt/journal.h"
#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/attempt/sampled_usage.h"
#include "agent/supervisor/limits/process_tree.h"
#include "agent/supervisor/scripts/site_request.h"
#include "agent/supervisor/user_space/job_user.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/signals.h"

namespace muster::agent {
namespace {

constexpr Duration kLookAgain{20};

// One run, and the end of what it leaves behind.
class Run {
 public:
  Run(EventLoop& loop, const UniqueFd& signals) : loop_(loop), signals_(signals) {}

  // What became of it, once nothing that it started is left.
  absl::Status ToTheEnd(ScriptRun::Request request) {
    absl::Status status;
    ScriptRun script(loop_, std::move(request), [this, &status](const absl::Status& ended) {
      status = ended;
      over_ = true;
      Clear();
    });
    script_ = &script;
    RETURN_IF_ERROR(loop_.Watch(signals_.get(), EPOLLIN, [this](std::uint32_t) { OnSignals(); }));
    const absl::Status turned = loop_.Run();
    loop_.Unwatch(signals_.get());
    RETURN_IF_ERROR(turned);
    return status;
  }

 private:
  void OnSignals() {
    while (TakeSignal(signals_).has_value()) {
      Reap();
    }
  }

  void Reap() {
    siginfo_t info = {};
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
      const pid_t pid = info.si_pid;
      const bool is_script = !over_ && script_->Owns(pid);
      if (is_script) {
        script_->BeforeReap();
      }
      int wait_status = 0;
      if (waitpid(pid, &wait_status, 0) == pid && is_script) {
        script_->Reaped(wait_status);
      }
      info = {};
    }
  }

  void Clear() {
    Reap();
    siginfo_t info = {};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD) {
      loop_.Stop();
      return;
    }
    SignalDescendants(SIGKILL);
    loop_.RunAfter(kLookAgain, [this] { Clear(); });
  }

  EventLoop& loop_;
  const UniqueFd& signals_;
  ScriptRun* script_ = nullptr;
  bool over_ = false;
};

absl::Status RunEpilog(const SupervisorOrder& order) {
  const SiteScript& script = order.scripts.epilog;
  const auto& nodes = order.launch.allocation.nodes;
  const auto node = std::find_if(nodes.begin(), nodes.end(), [&](const NodeAllocation& part) {
    return part.name == order.node_name;
  });
  const absl::StatusOr<std::optional<JobUser>> user = FindJobUser(order.launch.spec.user);
  if (node == nodes.end()) {
    return absl::InternalError("the order has no part for this node");
  }
  if (script.as_user && !user.ok()) {
    return user.status();
  }
  ASSIGN_OR_RETURN(const UniqueFd signals,
                   BlockSignals({SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT}));
  ASSIGN_OR_RETURN(const std::unique_ptr<EventLoop> loop, EventLoop::Create());
  return Run(*loop, signals)
      .ToTheEnd(SiteRequest(order, static_cast<std::uint32_t>(node - nodes.begin()), "epilog",
                            script, StepId(), user.ok() && user->has_value() ? &**user : nullptr));
}

}  // namespace

absl::Status RunLostEpilog(const AttemptDirectory& directory, const Clock& clock,
                           const Logger& log) {
  ASSIGN_OR_RETURN(const SupervisorOrder order, ReadOrder(directory.Order()));
  const absl::Status ran = RunEpilog(order);
  RunEnded end;
  end.time = clock.Now();
  end.cause = EndCause::kLostSupervisor;
  end.status.signal = SIGKILL;  // how it ended is not known, and it is never a success
  end.usage = ReadSampledUsage(directory.Sampled());
  end.text = kLostSupervisorText;
  if (!ran.ok()) {
    end.node_fault = std::string(ran.message());
    log.Error("epilog", end.node_fault);
  }
  ASSIGN_OR_RETURN(JournalWriter journal, JournalWriter::Open(directory.Journal(), order.launch.job,
                                                              order.launch.attempt));
  return journal.Append(std::move(end));
}

}  // namespace muster::agent

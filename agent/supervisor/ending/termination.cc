#include "agent/supervisor/ending/termination.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "agent/supervisor/limits/process_tree.h"

namespace muster::agent {
namespace {

// What a script leaves behind may finish by itself for that long, on a busy node, too (a `tee` that
// empties its pipe).
constexpr Duration kSettle{500};
constexpr Duration kOrphanGraceMax{2000};
constexpr Duration kKillIntervalMax{1000};
// A checkpoint that is being copied to the shared directory has ten minutes after the job's end,
// within its time limit.
constexpr Duration kFlushLook{100};
constexpr int kFlushLooks = 6000;

}  // namespace

Termination::Termination(EventLoop& loop, const EndState& end, Suspension& suspension,
                         Handlers handlers)
    : end_(end), suspension_(suspension), handlers_(std::move(handlers)), timers_(loop) {}

void Termination::EndOrphans(Duration grace) {
  if (HasChildren()) {
    timers_.After(kSettle, [this, grace = std::min(grace, kOrphanGraceMax)] {
      TerminateOrphans(grace, kFlushLooks);
    });
  }
}

void Termination::TerminateOrphans(Duration grace, int looks_left) {
  if (end_.job_over() || end_.forced()) {
    return;
  }
  if (looks_left > 0 && handlers_.copying()) {
    timers_.After(kFlushLook,
                  [this, grace, looks_left] { TerminateOrphans(grace, looks_left - 1); });
    return;
  }
  Terminate(grace);
}

void Termination::Terminate(Duration grace) {
  SignalDescendants(SIGTERM);
  suspension_.Undo();  // after the signal, so that it comes first
  KillAfter(grace);
}

void Termination::KillAfter(Duration grace) {
  timers_.After(grace, [this] { Kill(); });
}

void Termination::Kill() {
  if (end_.job_over()) {
    return;
  }
  // What lives in the group dies at once, by the kernel; looking for thousands of processes one by
  // one would only take longer. The rest, if any, is what left the group.
  if (cgroup_ == nullptr || !cgroup_->Kill() || !cgroup_->Populated() ||
      interval_ >= kKillIntervalMax) {
    SignalDescendants(SIGKILL);
  }
  handlers_.on_kill();
  // Once more until nothing is left: a process may have forked while we looked.
  KillAfter(interval_);
  interval_ = std::min(interval_ * 2, kKillIntervalMax);
}

}  // namespace muster::agent

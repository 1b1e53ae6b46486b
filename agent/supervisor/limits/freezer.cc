#include "agent/supervisor/limits/freezer.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "agent/supervisor/limits/process_tree.h"

namespace muster::agent {
namespace {

constexpr std::chrono::milliseconds kLookMin{1};
constexpr std::chrono::milliseconds kLookMax{100};
constexpr int kStoppedLooks = 2;

}  // namespace

void Freezer::Freeze(const AttemptCgroup* cgroup, std::function<void()> done) {
  ++turn_;
  cgroup_ = cgroup;
  done_ = std::move(done);
  wait_ = kLookMin;
  stopped_looks_ = 0;
  frozen_ = true;
  by_cgroup_ = cgroup != nullptr && cgroup->Freeze(true);
  Look();
}

void Freezer::Thaw() {
  ++turn_;
  done_ = nullptr;
  if (!std::exchange(frozen_, false)) {
    return;
  }
  if (by_cgroup_) {
    ThawCgroup();
  } else {
    SignalDescendants(SIGCONT);
  }
}

// Again until it works: nothing else wakes the processes.
void Freezer::ThawCgroup() {
  if (!cgroup_->Freeze(false)) {
    loop_.RunAfter(kLookMin, [this, turn = turn_] {
      if (turn == turn_) {
        ThawCgroup();
      }
    });
  }
}

bool Freezer::AllStopped() {
  if (by_cgroup_) {
    return cgroup_->Frozen();
  }
  stopped_looks_ = StopDescendants() == 0 ? stopped_looks_ + 1 : 0;
  return stopped_looks_ >= kStoppedLooks;
}

void Freezer::Look() {
  if (AllStopped()) {
    // From the loop: who asked still waits for his answer.
    loop_.Post([this, turn = turn_] {
      if (turn == turn_ && done_) {
        std::exchange(done_, nullptr)();
      }
    });
    return;
  }
  loop_.RunAfter(wait_, [this, turn = turn_] {
    if (turn == turn_) {
      Look();
    }
  });
  wait_ = std::min(wait_ * 2, kLookMax);
}

}  // namespace muster::agent

#pragma once

// The steps of an attempt that run on this node.
//
// Thread promise: the loop's thread. Invariants: (1) a step is launched once, unless it is the
// batch script that could not be restored; (2) a step whose end is told has left the map before; it
// hands its connection on, so that its last word is sent before WhenQuiet().

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "agent/supervisor/attempt/attempt_directory.h"
#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/attempt/reporter.h"
#include "agent/supervisor/confinement.h"
#include "agent/supervisor/container/attempt_containers.h"
#include "agent/supervisor/container/remote_shells.h"
#include "agent/supervisor/mpirun/inner_ranks.h"
#include "agent/supervisor/pmix_steps.h"
#include "agent/supervisor/step/step.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/closing_sockets.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"

namespace muster::agent {

class AttemptSteps {
 public:
  // Of the same attempt; all of it outlives this.
  struct Parts {
    EventLoop& loop;
    const Clock& clock;
    const Logger& log;
    const AttemptDirectory& directory;
    const SupervisorOrder& order;
    Reporter& reporter;
    const Confinement& confinement;
  };
  struct Handlers {
    std::function<void(StepId)> on_started;
    std::function<void(std::unique_ptr<Step>)> on_ended;
  };

  AttemptSteps(const Parts& parts, Handlers handlers);
  AttemptSteps(const AttemptSteps&) = delete;
  AttemptSteps& operator=(const AttemptSteps&) = delete;

  // Lets launchers in the job ask for places. Without it an `mpirun` starts its ranks as it would
  // anywhere.
  void ListenToInnerRanks(std::uint32_t node_index);
  // It is to be launched, at once or later, and not again.
  void Take(StepId step) { taken_.insert(step); }
  [[nodiscard]] bool IsTaken(StepId step) const { return taken_.count(step) != 0; }
  void Launch(StepPlan plan);
  void ToldToEnd(bool by_others);
  void DropConnections();
  // No step will be launched any more: ends the process that serves PMIx, if none runs, and those
  // that serve images.
  void EndServing() {
    if (running_.empty()) {
      containers_.LetGo();
      pmix_.LetGo();
    }
  }
  // A child that is none of a step's, nor of a script's.
  void ReapedOther(pid_t pid, int wait_status) {
    if (remote_shells_ != nullptr) {
      remote_shells_->Reaped(pid, wait_status);
    }
  }
  // The attempt is over: nothing runs any more.
  void Close();
  // Calls `done` once the last word of all has been sent.
  void WhenQuiet(std::function<void()> done) { closing_.WhenEmpty(std::move(done)); }

  [[nodiscard]] const StepMap& running() const { return running_; }
  // Whose rank that is; null: nobody's.
  [[nodiscard]] Step* Find(pid_t pid) const;
  // See AttemptContainers::Save.
  void Save(const ContainerSpec& container, std::function<void(absl::Status)> done) {
    containers_.Save(container, std::move(done));
  }
  // "sha256:…" of the image of such a container; "": none was made.
  [[nodiscard]] std::string ImageOf(const ContainerSpec& container) const {
    return containers_.ImageOf(container);
  }
  // The batch script's process, if no other step runs; 0 otherwise.
  [[nodiscard]] pid_t LoneScript() const;

 private:
  PmixNews NewsOf(StepId step);
  void ListenToRemoteShells();
  // Of the step that the process is of.
  [[nodiscard]] ContainerSpec ContainerOf(pid_t pid) const;
  void OnEnded(StepId step);

  const Parts parts_;
  const Handlers handlers_;
  std::unique_ptr<InnerRanks> inner_ranks_;
  std::unique_ptr<RemoteShells> remote_shells_;  // once there is a container
  std::uint32_t node_index_ = 0;
  ClosingSockets closing_;  // of what has ended, while its last word is on its way
  PmixSteps pmix_;
  AttemptContainers containers_;
  StepMap running_;
  std::set<StepId> taken_;
};

}  // namespace muster::agent

#pragma once

// What the supervisor does with CRIU for its attempt: saves the batch script's processes when a
// checkpoint is due and when the attempt ends, and starts again a script that cannot be restored.
//
// Without Prepare(), as for most jobs, it only passes ends on. Thread promise: the loop's thread.
// Invariants: (1) amid a dump no process is sent a signal, because it is not itself then, unless
// the grace of the end is over; (2) a script is begun again only while the attempt does not end.

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/checkpoint/checkpoint_duty.h"
#include "agent/supervisor/criu/criu_checkpoints.h"
#include "agent/supervisor/ending/end_state.h"
#include "agent/supervisor/ending/termination.h"
#include "agent/supervisor/limits/suspension.h"
#include "agent/supervisor/step/step.h"
#include "agent/supervisor/user_space/job_user.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"

namespace muster::agent {

class CriuDuty {
 public:
  // Of the same attempt; all of it outlives this.
  struct Parts {
    EventLoop& loop;
    const Clock& clock;
    const Logger& log;
    const SupervisorOrder& order;
    EndState& end;
    Suspension& suspension;
    Termination& termination;
    CheckpointDuty& checkpoints;
  };
  struct Handlers {
    std::function<pid_t()> leader;     // the batch script's process, if it runs alone; else 0
    std::function<void()> begin;       // the batch script, as NextRestore() says
    std::function<void()> on_give_up;  // it is not begun again: the attempt ends
  };

  CriuDuty(const Parts& parts, Handlers handlers);
  CriuDuty(const CriuDuty&) = delete;
  CriuDuty& operator=(const CriuDuty&) = delete;

  // For a job that wants it; others need nothing.
  absl::Status Prepare(const JobUser* user);
  // What to restore and which script to start; null: the job does not want it.
  [[nodiscard]] CriuCheckpoints* checkpoints() const { return criu_.get(); }
  // The batch step runs.
  void Started();
  // It has ended; true: it could not be restored, and is begun in another way.
  bool BeginsOtherwise(const Step& step);
  // It has ended, and with it the job.
  void TakeEnd(const Step& step);
  void DumpWhenDue();
  // Ends all within `grace`, once the processes are saved where that is wanted for such an end.
  void End(EndCause cause, Duration grace);
  // Of the dump's own process.
  [[nodiscard]] bool Owns(pid_t pid) const { return criu_ != nullptr && criu_->Owns(pid); }
  void Reaped(int wait_status) { criu_->Reaped(wait_status); }

 private:
  [[nodiscard]] pid_t Leader() const { return criu_ == nullptr ? 0 : handlers_.leader(); }
  void BeginAgain();
  void EndAfterDump();

  const Parts parts_;
  const Handlers handlers_;
  std::unique_ptr<CriuCheckpoints> criu_;
  SteadyTime end_by_ = SteadyTime::min();  // ordered to end, within that
  bool save_at_end_ = false;
  OwnTimers timers_;
};

}  // namespace muster::agent

#pragma once

// The life of one job attempt on one node: launch, watch, end, report.
//
// Wires the classes that each do a part of it. Owns every process of the attempt here (it is their
// subreaper) and ends only when none is left and the journal says so; no signal but SIGKILL ends it
// sooner. Thread promise: the loop's thread.
// Invariants: (1) RunEnded is reported once, last, with no process left; (2) the first cause of an
// end stands; (3) a step that is ordered twice is started once; (4) while it is suspended nothing
// is started and its time limit stands still; an end undoes the suspension.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "agent/supervisor/attempt/attempt_directory.h"
#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/attempt/reporter.h"
#include "agent/supervisor/attempt_work.h"
#include "agent/supervisor/checkpoint/checkpoint_duty.h"
#include "agent/supervisor/checkpoint/progress_duty.h"
#include "agent/supervisor/confinement.h"
#include "agent/supervisor/control.h"
#include "agent/supervisor/criu/criu_duty.h"
#include "agent/supervisor/ending/end_state.h"
#include "agent/supervisor/ending/end_warning.h"
#include "agent/supervisor/ending/lease.h"
#include "agent/supervisor/ending/limit_keeper.h"
#include "agent/supervisor/ending/termination.h"
#include "agent/supervisor/limits/suspension.h"
#include "agent/supervisor/scripts/script_runs.h"
#include "agent/supervisor/sessions/session_desk.h"
#include "agent/supervisor/step/signal_router.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

class Supervisor {
 public:
  // What it takes over.
  struct Parts {
    AttemptDirectory directory;
    SupervisorOrder order;
    JournalWriter journal;
    UniqueFd signals;  // a BlockSignals descriptor that has SIGCHLD among others
  };

  // Everything given by reference outlives the supervisor.
  Supervisor(EventLoop& loop, const Clock& clock, const Logger& log, Parts parts);
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  ~Supervisor();

  // Starts what the order says and turns the loop until the attempt has ended and is recorded.
  absl::Status Run();

 private:
  absl::Status Begin();
  // Lets logins of the job's user in, where it has one.
  void OpenSessionDesk(std::uint32_t node_index);
  // Why none may enter now; empty: he may.
  [[nodiscard]] std::string ClosedToSessions() const;
  [[nodiscard]] bool SessionsEnded() const;
  void FailLaunch(const absl::Status& why);
  absl::Status OnCommand(const ControlSocket::Command& command);
  [[nodiscard]] bool IsOurs(JobId job, AttemptNumber attempt) const;
  // Why a command for another attempt is refused.
  [[nodiscard]] absl::Status Strange(JobId job, AttemptNumber attempt) const;
  absl::Status TakeTerminate(const TerminateOrder& order);
  absl::Status TakeSuspend(const SuspendOrder& order);
  void TakeAdvice(const CheckpointAdvice& advice);
  // It ends in so long at the latest, if it has to.
  void PlanEnd(std::optional<Duration> left);
  [[nodiscard]] SignalRouter Router();
  void OnSignals();
  void Reap();

  // The end, in its stages. The main step has ended: what it left follows.
  void EndByItself();
  void EndWithLease();
  void EndFor(EndCause cause, const std::string& why);
  // Ends what runs after SIGTERM and `grace`.
  void EndByForce(EndCause cause, Duration grace, const std::string& text);
  void CheckFinished();
  void Finish();

  EventLoop& loop_;
  const Clock& clock_;
  const Logger& log_;
  const AttemptDirectory directory_;
  SupervisorOrder order_;  // as it was written, but for a limit that was changed
  Reporter reporter_;
  UniqueFd signals_;
  EndState end_;
  Confinement confinement_;
  LimitKeeper limit_;
  EndWarning warning_;
  Lease lease_;
  Suspension suspension_;
  Termination termination_;
  CheckpointDuty checkpoints_;
  ProgressDuty progress_;
  CriuDuty criu_;
  ScriptRuns scripts_;
  AttemptWork work_;
  // What it is called on.
  struct {
    std::unique_ptr<ControlSocket> control;
    std::unique_ptr<SessionDesk> sessions;  // null: no login gets into it
  } sockets_;
};

}  // namespace muster::agent

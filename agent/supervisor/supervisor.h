#pragma once

// The life of one job attempt on one node: launch, watch, end, report.
//
// Owns every process of the attempt here (it is their subreaper) and ends only when none is left
// and the journal says so; no signal but SIGKILL ends it sooner. Thread promise: the loop's thread.
// Invariants: (1) RunEnded is reported once, last, with no process left; (2) the first cause of an
// end stands; (3) a step that is ordered twice is started once; (4) while it is suspended nothing
// is started and its time limit stands still; an end undoes the suspension.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/supervisor/attempt/attempt_directory.h"
#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/attempt/reporter.h"
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
#include "agent/supervisor/mpirun/inner_ranks.h"
#include "agent/supervisor/pmix_steps.h"
#include "agent/supervisor/scripts/script_runs.h"
#include "agent/supervisor/step/signal_router.h"
#include "agent/supervisor/step/step.h"
#include "scheduler/model/job/exit_status.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/closing_sockets.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster {

class Supervisor {
 public:
  // `signals` is a BlockSignals descriptor that has SIGCHLD among others. Everything given by
  // reference outlives the supervisor.
  Supervisor(EventLoop& loop, const Clock& clock, const Logger& log, AttemptDirectory directory,
             SupervisorOrder order, JournalWriter journal, UniqueFd signals);
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  ~Supervisor();

  // Starts what the order says and turns the loop until the attempt has ended and is recorded.
  absl::Status Run();

 private:
  absl::Status Begin();
  void FailLaunch(const absl::Status& why);
  void ListenToInnerRanks();
  // Starts what the order says, unless the attempt is frozen or has to end.
  void BeginWork();
  absl::Status StartWork();
  void TakeHeldSteps();
  void LaunchAfterProlog(const StepPlan& plan);
  void BeginBatch();
  void BeginRun();
  // Its time limit, and the warning before it ends (supervisor_limit.cc).
  void PlanEnd(std::optional<Duration> left);
  void TakeAdvice(const CheckpointAdvice& advice);
  void EndWithLease();
  absl::Status OnCommand(const ControlSocket::Command& command);
  absl::Status TakeStep(const StepOrder& order);
  absl::Status TakeTerminate(const TerminateOrder& order);
  absl::Status TakeSuspend(const SuspendOrder& order);
  [[nodiscard]] SignalRouter Router() const;
  absl::Status StartStep(const StepOrder& order);
  void Launch(StepPlan plan);
  PmixNews NewsOf(StepId id);
  void ReportStarted();
  void OnStepEnded(StepId id);
  void OnSignals();
  void Reap();

  // The batch script's process, while it can be saved: no other step runs.
  [[nodiscard]] pid_t LoneScript() const;

  // The end, in its stages. Ends what runs after SIGTERM and `grace`.
  void EndByForce(EndCause cause, Duration grace, const std::string& text);
  void CheckFinished();
  void Finish();
  void After(Duration delay, std::function<void()> action);

  EventLoop& loop_;
  const Clock& clock_;
  const Logger& log_;
  const AttemptDirectory directory_;
  SupervisorOrder order_;  // as it was written, but for a limit that was changed
  Reporter reporter_;
  UniqueFd signals_;
  Confinement confinement_;
  Suspension suspension_;
  Lease lease_;
  EndState end_;
  CheckpointDuty checkpoints_;
  Termination termination_;
  CriuDuty criu_;
  ProgressDuty progress_;
  ScriptRuns scripts_;
  std::unique_ptr<ControlSocket> control_;
  std::unique_ptr<InnerRanks> inner_ranks_;
  ClosingSockets closing_;  // of what has ended, while its last word is on its way
  PmixSteps pmix_;
  StepMap steps_;
  bool began_ = false;      // the prolog is over
  bool work_held_ = false;  // it was when the attempt was frozen
  std::set<StepId> known_steps_;
  std::uint32_t node_index_ = 0;
  std::optional<StepId> main_step_;  // its end is the attempt's
  LimitKeeper limit_;
  EndWarning warning_;
  std::vector<StepOrder> held_steps_;  // ordered while frozen
  bool started_reported_ = false;
};

}  // namespace muster

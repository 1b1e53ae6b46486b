#pragma once

// What an attempt is ordered to run on this node: its script or the ranks of a run job, and the
// steps that come while it runs.
//
// Thread promise: the loop's thread. Invariants: (1) nothing begins before the site's prolog has
// succeeded and the job's data are here, nor while the attempt is suspended; (2) a step that is
// ordered twice is started once; (3) the end of the main step, and of its epilog, is the attempt's.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/supervisor/attempt_steps.h"
#include "agent/supervisor/confinement.h"
#include "agent/supervisor/container/attempt_data.h"
#include "agent/supervisor/criu/criu_duty.h"
#include "agent/supervisor/ending/end_state.h"
#include "agent/supervisor/limits/suspension.h"
#include "agent/supervisor/scripts/script_runs.h"
#include "agent/supervisor/values/value_desk.h"

namespace muster::agent {

class AttemptWork {
 public:
  // Of the same attempt; all of it outlives this.
  struct Parts {
    EndState& end;
    Confinement& confinement;
    const Suspension& suspension;
    ScriptRuns& scripts;
    CriuDuty& criu;
    SupervisorOrder& order;
  };
  struct Handlers {
    std::function<void(const absl::Status& why)> on_failed;  // it cannot begin
    std::function<void()> on_main_ended;                     // by itself
    std::function<void()> on_step_ended;                     // any, after that
  };

  AttemptWork(const AttemptSteps::Parts& here, const Parts& parts, Handlers handlers);
  AttemptWork(const AttemptWork&) = delete;
  AttemptWork& operator=(const AttemptWork&) = delete;

  // The prolog is over.
  void Begin();
  // The attempt is not suspended any more.
  void GoOn();
  // Of this attempt.
  absl::Status Take(const StepOrder& order);
  // The script, once more where it could not be restored.
  void BeginBatch();

  // What is wrong with the attempt besides what its programs say; none: nothing any more.
  void Note(std::optional<ReportedFinding> finding) const;

  [[nodiscard]] bool begun() const { return begun_; }
  [[nodiscard]] AttemptSteps& steps() { return steps_; }

 private:
  absl::Status Open();
  absl::Status Start();
  void AwaitSharing() const;
  void ListenToValues();
  void BeginRun();
  absl::Status StartStep(const StepOrder& order);
  void TakeHeldSteps();
  // The whole job's part here, as a step.
  [[nodiscard]] StepPlan WholePlan(StepId step) const;
  void LaunchAfterProlog(StepPlan plan);
  void ReportStarted();
  void OnStarted(StepId step);
  void OnEnded(std::unique_ptr<Step> step);
  // The container to be saved at the end of that step.
  [[nodiscard]] ContainerSpec SavedAfter(const Step& step) const;
  void AfterStep(StepId step);

  const AttemptSteps::Parts here_;
  const Parts parts_;
  const Handlers handlers_;
  AttemptSteps steps_;
  std::uint32_t node_index_ = 0;
  std::optional<StepId> main_step_;  // where it is here
  AttemptData data_;
  bool opened_ = false;  // for processes of the job's
  bool begun_ = false;
  bool held_ = false;                  // by a suspension that came before the prolog's end
  std::vector<StepOrder> held_steps_;  // by that, by the prolog or for the data
  bool started_reported_ = false;
  int saves_ = 0;                      // containers that are being saved
  bool main_waits_ = false;            // for them: it has ended
  std::unique_ptr<ValueDesk> values_;  // null where it could not be made
};

// The place of the node of that name in `allocation`.
absl::StatusOr<std::uint32_t> FindNode(const Allocation& allocation, const std::string& name);

}  // namespace muster::agent

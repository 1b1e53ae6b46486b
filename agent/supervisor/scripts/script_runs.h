#pragma once

// The site's scripts of one attempt: its prolog, those of its steps, and what runs after all of it.
//
// A prolog ends before what it is for begins; of the epilogs those of steps that ended as the
// attempt had to come last but for the attempt's own. Thread promise: the loop's thread.
// Invariants: (1) each script is begun at most once, the attempt's epilog only once it is claimed;
// (2) a script that fails is the node's fault, unless it was ended with the attempt; (3) the
// attempt's scripts run one after the other.

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/supervisor/attempt/attempt_directory.h"
#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/ending/end_state.h"
#include "agent/supervisor/scripts/script_run.h"
#include "agent/supervisor/user_space/job_user.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"

namespace muster::agent {

class ScriptRuns {
 public:
  // Of the same attempt; all of it outlives this.
  struct Parts {
    EventLoop& loop;
    const Logger& log;
    const AttemptDirectory& directory;
    const SupervisorOrder& order;
    EndState& end;
  };
  struct Handlers {
    std::function<void()> on_prolog;         // it has succeeded, or there is none
    std::function<void()> on_prolog_failed;  // the attempt's or a step's: see EndState
    std::function<void()> on_epilog;         // one of those after all of it is over
    std::function<void()> on_recalled;       // a prolog is over whose attempt ends
  };
  using Closure = std::function<void()>;

  ScriptRuns(const Parts& parts, Handlers handlers);
  ScriptRuns(const ScriptRuns&) = delete;
  ScriptRuns& operator=(const ScriptRuns&) = delete;

  // The attempt's prolog. `node_index` is this node's place in the allocation, `user` the job's.
  void RunProlog(std::uint32_t node_index, const JobUser* user);
  // Calls `launch` once the step may begin; not at all when it may not.
  void BeforeStep(StepId step, const Closure& launch);
  // The step has ended; calls `done` once its epilog has, too, or waits for the attempt's end.
  void AfterStep(StepId step, const Closure& done);
  // Nothing of the attempt is left. True while something is still to be run, which this starts.
  bool RunLast();

  // Whose process that is; null: nobody's.
  [[nodiscard]] ScriptRun* Find(pid_t pid) const;

 private:
  [[nodiscard]] ScriptRun::Request RequestOf(const char* what, const SiteScript& script,
                                             StepId step) const;
  void RunAlone(ScriptRun::Request request, ScriptRun::Done done);
  void OnProlog(const absl::Status& status, const Closure& go_on);
  void RunEpilog(const char* what, const SiteScript& script, StepId step);
  void ClaimEpilog();
  void RecordFailure(const absl::Status& status);

  const Parts parts_;
  const Handlers handlers_;
  std::uint32_t node_index_ = 0;
  const JobUser* user_ = nullptr;
  std::unique_ptr<ScriptRun> script_;  // the attempt's: prolog, then epilogs one after the other
  std::map<StepId, std::unique_ptr<ScriptRun>> of_steps_;
  std::vector<StepId> epilogs_due_;  // of steps that ended as the attempt had to
  bool prolog_tried_ = false;
  bool epilog_over_ = false;
};

}  // namespace muster::agent

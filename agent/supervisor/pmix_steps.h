#pragma once

// Which steps get PMIx, and from where: one process of the job's user that serves it, started when
// the first rank calls, or with the first step while nobody knows what ranks have to be told.
//
// A step of several ranks gets it unless it asked not to; without the module it runs all the same
// and says so, unless it asked for PMIx by name. Thread promise: the loop's thread;
// what that process has to say is posted to the loop. Outlives every grant.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/supervisor/attempt/attempt_directory.h"
#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/limits/cgroup.h"
#include "agent/supervisor/mpi/step_pmix.h"
#include "agent/supervisor/user_space/job_user.h"
#include "scheduler/runtime/closing_sockets.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"

namespace muster::agent {

class PmixProcess;
struct PmixProcessConfig;
struct StepPlan;

class PmixSteps {
 public:
  PmixSteps(EventLoop& loop, ClosingSockets& closing, const Logger& log,
            const AttemptDirectory& directory, const SupervisorOrder& order);
  PmixSteps(const PmixSteps&) = delete;
  PmixSteps& operator=(const PmixSteps&) = delete;
  ~PmixSteps();

  // The ranks' user (null: ours), control group (null: none) and namespace of mounts (-1: ours),
  // which outlive this.
  void RunIn(const JobUser* user, const AttemptCgroup* cgroup, int mounts);
  // What `plan` gets; `news` receives on the loop what its ranks and the other nodes say.
  PmixGrant Grant(const StepPlan& plan, PmixNews news);
  // No step will ask any more: the process ends with its last step.
  void LetGo() { process_.reset(); }
  // No process of the attempt is left: removes what its steps have left in shared memory.
  void Close();

 private:
  [[nodiscard]] std::string NameOf(const StepPlan& plan) const;
  [[nodiscard]] std::string NamespaceOf(const StepPlan& plan) const;
  absl::Status Load();
  // Before the process starts: its directory and its control group.
  absl::Status Prepare(PmixProcessConfig* config);
  [[nodiscard]] std::string Installation() const;
  [[nodiscard]] std::string PatternPath() const;
  [[nodiscard]] std::vector<std::string> ReadPattern() const;
  void KeepPattern(const std::vector<std::string>& pattern) const;
  void NoteSegments(const std::string& directory);
  absl::StatusOr<std::unique_ptr<StepPmix>> Make(const StepPlan& plan, PmixNews news);
  absl::StatusOr<std::unique_ptr<StepPmix>> MakeTreeInput(const StepPlan& plan, PmixNews news);
  absl::StatusOr<std::unique_ptr<StepPmix>> MakePmi(const StepPlan& plan, PmixNews news);

  EventLoop& loop_;
  ClosingSockets& closing_;
  const Logger& log_;
  const AttemptDirectory& directory_;
  const SupervisorOrder& order_;
  const JobUser* user_ = nullptr;
  const AttemptCgroup* cgroup_ = nullptr;
  int mounts_ = -1;
  std::optional<AttemptCgroup> group_;  // the process's own
  std::shared_ptr<PmixProcess> process_;
  std::vector<std::string> segments_;  // of steps that have ended; the process may be removing them
};

}  // namespace muster::agent

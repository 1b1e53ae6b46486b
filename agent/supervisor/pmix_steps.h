#pragma once

// Which steps get PMIx, and from where: one server for the attempt, loaded when the first step
// wants it.
//
// A step of several ranks gets it unless it asked not to; without the module it runs all the same
// and says so, unless it asked for PMIx by name. Thread promise: the loop's thread;
// what libpmix's thread has to say is posted to the loop. Outlives every grant.

#include <sys/types.h>

#include <memory>

#include "agent/supervisor/attempt/attempt_directory.h"
#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/mpi/step_pmix.h"
#include "scheduler/runtime/closing_sockets.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"

namespace muster {

class PmixLoader;
struct StepPlan;

class PmixSteps {
 public:
  PmixSteps(EventLoop& loop, ClosingSockets& closing, const Logger& log,
            const AttemptDirectory& directory, const SupervisorOrder& order);
  PmixSteps(const PmixSteps&) = delete;
  PmixSteps& operator=(const PmixSteps&) = delete;
  ~PmixSteps();

  // The user of the ranks; by default ours.
  void RunAs(uid_t uid, gid_t gid);
  // What `plan` gets; `news` receives on the loop what its ranks and the other nodes say.
  PmixGrant Grant(const StepPlan& plan, PmixNews news);

 private:
  [[nodiscard]] std::string NameOf(const StepPlan& plan) const;
  [[nodiscard]] std::string NamespaceOf(const StepPlan& plan) const;
  absl::Status Load();
  absl::StatusOr<std::unique_ptr<StepPmix>> Make(const StepPlan& plan, PmixNews news);
  absl::StatusOr<std::unique_ptr<StepPmix>> MakeTreeInput(const StepPlan& plan, PmixNews news);
  absl::StatusOr<std::unique_ptr<StepPmix>> MakePmi(const StepPlan& plan, PmixNews news);

  EventLoop& loop_;
  ClosingSockets& closing_;
  const Logger& log_;
  const AttemptDirectory& directory_;
  const SupervisorOrder& order_;
  std::unique_ptr<PmixLoader> loader_;
  uid_t uid_;
  gid_t gid_;
};

}  // namespace muster

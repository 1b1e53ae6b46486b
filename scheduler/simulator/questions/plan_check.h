#pragma once

// What a plan leaves waiting, and what is said of it to users: checked beside each cycle of a life.
//
// Thread promise: none; one thread. Invariant: it looks, and changes nothing; a life goes on as it
// would without.

#include <cstdint>
#include <optional>
#include <string>

#include "scheduler/core/explain/watchdog.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::sim {

// What is wrong with the answer to "why does it wait" of the job, or with the changes of its
// request that are said to help; these take several cycles to find.
std::optional<std::string> WrongAnswer(const Snapshot& snapshot, JobId job, const Plan& plan,
                                       const SchedulerConfig& config, bool changes);

class PlanCheck {
 public:
  // What is wrong: a job that cycles leave though it fits on idle nodes, or, now and then, an
  // answer about one that waits. REQUIRES: the plan is of the snapshot.
  std::optional<std::string> Look(const Snapshot& snapshot, const Plan& plan,
                                  const SchedulerConfig& config);

 private:
  core::Watchdog watchdog_;
  std::uint64_t looks_ = 0;
};

}  // namespace muster::sim

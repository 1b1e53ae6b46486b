#pragma once

// The keys by which the order called prompt sorts the jobs of a snapshot.
//
// The formulas are in core/prompt/prompt_order; here they are given what a cluster knows of a job:
// since when it could start, how long it is thought to run, how its user stands in fair share, and
// the points that the site gives. Thread promise: one thread. Invariants: integers only; a
// better fairshare or more points never make a key larger.

#include <cstdint>
#include <optional>

#include "scheduler/core/plan/queue/backlog.h"
#include "scheduler/core/prompt/prompt_order.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/policy/share_status.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

// The settings as the formulas take them, in milliseconds.
PromptRules RulesOf(const PromptPolicy& policy);

class PromptKeys {
 public:
  // REQUIRES: all outlive it.
  PromptKeys(const Snapshot& snapshot, const SchedulerConfig& config, const Backlog& backlog);

  // It has waited for so long that it goes before all others, the first that came first.
  [[nodiscard]] bool IsImpatient(const WaitingJob& job) const;
  // The smaller, the earlier. `points` are those of its priority beyond the usual, but for age and
  // fair share: as time they are what age gives them for, else a second each.
  [[nodiscard]] std::int64_t KeyOf(const WaitingJob& job, Factor fairshare,
                                   std::int64_t points) const;

 private:
  const Snapshot& snapshot_;
  const Backlog& backlog_;
  const PromptRules rules_;
  mutable std::optional<std::int64_t> patience_;  // once it was asked for
  std::int64_t point_ = 0;                        // milliseconds that a thousand points are worth
};

}  // namespace muster::core

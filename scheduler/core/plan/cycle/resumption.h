#pragma once

// Resumes suspended jobs that need their cores back: decides at which place of the queue each has
// its turn, and whether its cores are free.
//
// A job that was preempted by suspension, or that a user resumed, goes before every waiting job,
// except those that may preempt it again and the jobs before these in the queue: otherwise the two
// would take the cores from one another for ever. Of several the higher tier goes first, then the
// one that started first, then the lower id. Cores that are not all free yet are kept for it from
// its turn on, so that no later job keeps it waiting. Thread promise: owned by one cycle.
// Invariants: (1) each such job has one turn in a cycle; (2) it gets its own cores back, all of
// them, or none.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/core/plan/queue/queue_priority.h"
#include "scheduler/core/plan/search/preemption.h"
#include "scheduler/core/plan/search/start_options.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/plan/reason.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

// The cores that a suspended job has on a node, given back.
struct OwnCores {
  std::uint32_t node = 0;  // its position
  const Holding* holding = nullptr;
};

// By node. Empty for a job that was asked back before it had given them up.
std::vector<OwnCores> OwnCoresOf(const Snapshot& snapshot, const RunningJob& job);

// Why the job cannot have its cores now, with the first node where not; `now` are the snapshots of
// the nodes of its parts, `starts` what this cycle has started.
std::optional<Reason> WhyNotBack(const std::vector<OwnCores>& parts,
                                 const std::vector<const NodeSnapshot*>& now,
                                 const std::vector<PlannedStart>& starts);

class Resumption {
 public:
  // `order` is the queue as the cycle looks at it. REQUIRES: all outlive it.
  Resumption(const Snapshot& snapshot, const std::vector<QueueEntry>& order, StartOptions& options,
             const Preemption& preemption);

  // The jobs whose turn is before that place in the order, and was not before.
  std::vector<const RunningJob*> TakeDue(std::size_t place);

 private:
  struct Returning {
    const RunningJob* job = nullptr;
    std::size_t place = 0;  // in the order
    std::uint64_t tier = 0;
  };
  [[nodiscard]] bool WouldTake(const WaitingJob& job, const RunningJob& cores) const;

  const Snapshot& snapshot_;
  StartOptions& options_;
  const Preemption& preemption_;
  std::vector<Returning> returning_;  // by place
  std::size_t next_ = 0;
};

}  // namespace muster::core

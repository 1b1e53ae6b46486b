#pragma once

// Why each job waits, as the plan of one scheduling cycle says, found by the job.
//
// Thread promise: immutable once made; safe from any thread. Invariants: what it says is what the
// plan says, which it keeps alive.

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/model/plan/plan.h"
#include "scheduler/model/plan/reason.h"
#include "scheduler/model/value/ids.h"

namespace muster::daemon {

class WaitingReasons {
 public:
  WaitingReasons() = default;
  explicit WaitingReasons(std::shared_ptr<const Plan> plan);
  // Nothing, or 0, when the cycle did not leave the job waiting.
  [[nodiscard]] std::optional<Reason> ReasonOf(JobId job) const;
  [[nodiscard]] std::uint32_t PriorityOf(JobId job) const;
  // How many jobs from `job` on, of `most`, wait for what it does.
  [[nodiscard]] std::uint32_t AlikeFrom(JobId job, std::uint32_t most) const;

 private:
  [[nodiscard]] const LeftWaiting* EntryOf(JobId job) const;

  std::shared_ptr<const Plan> plan_;
  std::vector<std::pair<JobId, std::uint32_t>> places_;  // of its entries, by their first job
};

}  // namespace muster::daemon

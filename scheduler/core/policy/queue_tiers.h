#pragma once

// The tiers of the queue: which jobs go before others whatever their priorities.
//
// First by the highest PriorityTier of the job's partitions, then by how many QOS below it its QOS
// may preempt, one below the other: a job that may preempt another goes before it, or the other
// would take back at once what it gave. Thread promise: immutable once made. Invariant: a job of a
// QOS that may preempt another's stands in a higher tier than one of that other QOS in the same
// partitions.

#include <cstdint>
#include <map>
#include <string>

#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/policy/policy.h"

namespace muster::core {

class QueueTiers {
 public:
  // REQUIRES: the policy, which may be null, outlives it; no QOS preempts itself in a circle.
  explicit QueueTiers(const SitePolicy* site);

  // True when not all jobs stand in one tier.
  [[nodiscard]] bool differ() const { return differ_; }
  // The larger, the earlier.
  [[nodiscard]] std::uint64_t Of(const JobSpec& spec) const;

 private:
  std::uint32_t DepthOf(const std::string& qos);

  const SitePolicy* const site_;
  std::map<std::string, std::uint32_t> depths_;  // by QOS
  bool differ_ = false;
};

}  // namespace muster::core

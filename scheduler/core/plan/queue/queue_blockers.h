#pragma once

// In each partition, the jobs that wait for resources and so keep later ones waiting.
//
// Thread promise: none; owned by one cycle. Invariants: a job counts at most once in a partition,
// and each element of an array as one job.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/plan/reason.h"
#include "scheduler/model/value/ids.h"

namespace muster::core {

class QueueBlockers {
 public:
  // `may_overtake`: jobs may start before those that wait for resources.
  explicit QueueBlockers(bool may_overtake) : may_overtake_(may_overtake) {}

  // The next job is looked at.
  void BeginJob() { counted_.clear(); }
  // Later jobs of the partition wait for this one. Of several calls for it the first counts.
  void Block(const std::string& partition, JobId job);
  // As many elements more wait as the last job does.
  void AddAlike(std::uint32_t count);

  // True when no later job of the partition may start.
  [[nodiscard]] bool Holds(const std::string& partition) const {
    return !may_overtake_ && blockers_.contains(partition);
  }
  // The jobs before a later one of the partition, as its reason; nothing when there are none.
  [[nodiscard]] std::optional<Reason> WhyLater(const std::string& partition) const;

 private:
  struct Blocker {
    JobId first;
    std::uint32_t waiting = 0;
  };

  const bool may_overtake_;
  std::map<std::string, Blocker> blockers_;  // by partition
  std::vector<std::string> counted_;         // the partitions in which the last job blocks others
};

}  // namespace muster::core

#pragma once

// The ways in which a waiting job may be started: each of its alternatives in each of its
// partitions.
//
// Worked out once for all jobs that share a spec, and kept while the partitions and nodes stay as
// they are; what jobs of one shape have in common is shared further. Thread promise: owned by one
// cycle at a time. Invariants: (1) options stand in order of
// preference; (2) every node that an option's need allows is in its partition, in the job's own
// reservation if that is not flexible, and fits the request's description of nodes; (3) needs of
// one shape are equal.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "scheduler/core/plan/availability/need.h"
#include "scheduler/core/policy/job_partition.h"
#include "scheduler/core/policy/reserved_nodes.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

struct StartOption {
  std::uint32_t number = 0;  // counts the options of a StartOptions
  std::uint32_t alternative = 0;
  std::uint32_t tasks = 0;    // of a request that is as wide as fits, once its width is chosen
  std::string partition;      // "" where there are no rules
  ResourceRequest request;    // as it is in the partition
  std::vector<bool> inside;   // by position: nodes of the partition and its reservation; empty: all
  std::vector<bool> allowed;  // of those, the nodes that fit the request's description; empty: all
  Need need;                  // of this request on these nodes
  // The same on any leaf switches; null where it asks for no few ones, or there is no network.
  const StartOption* anywhere = nullptr;
};

class StartOptions {
 public:
  // REQUIRES: the snapshot outlives it.
  explicit StartOptions(const Snapshot& snapshot);

  // On to a later snapshot of the same nodes and policy. False when this is better built again.
  // REQUIRES: the snapshot outlives it.
  [[nodiscard]] bool MoveTo(const Snapshot& next);

  // The options of a job's spec. Empty when no partition takes the job.
  const std::vector<const StartOption*>& Of(const std::shared_ptr<const JobSpec>& spec);
  // The same option, on exactly that many nodes. REQUIRES: its request is as wide as fits.
  const StartOption* OnNodes(const StartOption& option, std::uint32_t nodes);

 private:
  void AddIn(const JobPartition& partition, const JobSpec& spec, std::uint32_t alternative,
             std::vector<const StartOption*>& options);
  StartOption& OptionIn(const JobPartition& partition, const JobSpec& spec,
                        std::uint32_t alternative, ResourceRequest request);
  const ReservedNodes* ReservedFor(const std::string& own);
  void FindInside(const JobSpec& spec, const JobPartition& partition, StartOption& option) const;

  // A spec is kept alive while its address stands for it.
  struct Known {
    std::shared_ptr<const JobSpec> spec;
    std::vector<const StartOption*> options;
  };

  const Snapshot* snapshot_;
  const bool has_rules_;
  const bool some_narrow_;  // nodes
  std::unordered_map<const JobSpec*, Known> by_spec_;
  std::map<std::uint64_t, StartOption> by_shape_;
  std::map<std::string, ReservedNodes> reserved_;  // by the reservation that a job names
};

}  // namespace muster::core

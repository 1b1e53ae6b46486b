#pragma once

// The partitions that a job names, as policy has them.
//
// Invariants: (1) they are in the job's order; (2) what they point to lives as long as the snapshot
// that was asked.

#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/policy/policy_snapshot.h"

namespace muster::core {

// A partition as a job sees it; `rules` and `nodes` are null for the implied one of all nodes.
struct JobPartition {
  std::string name;
  const Partition* rules = nullptr;
  const NodeGroup* nodes = nullptr;
};

// The job's partitions that exist, in its order.
std::vector<JobPartition> PartitionsOf(const PolicySnapshot& policy, const JobSpec& spec);

// The job's partition of that name ("" the implied one), when the job may name it.
std::optional<JobPartition> FindOwn(const PolicySnapshot& policy, const JobSpec& spec,
                                    const std::string& name);
}  // namespace muster::core

#include "scheduler/core/policy/job_partition.h"

#include "scheduler/core/state/tables/usage_keys.h"

namespace muster::core {

std::vector<JobPartition> PartitionsOf(const PolicySnapshot& policy, const JobSpec& spec) {
  std::vector<JobPartition> partitions;
  for (const std::string& name : PartitionNames(spec)) {
    const Partition* rules = FindPartition(*policy.site, name);
    if (rules == nullptr && name != kImpliedPartition) {
      continue;
    }
    const auto nodes = policy.nodes->partitions.find(name);
    partitions.push_back(JobPartition{
        name, rules, nodes == policy.nodes->partitions.end() ? nullptr : &nodes->second});
  }
  return partitions;
}

std::optional<JobPartition> FindOwn(const PolicySnapshot& policy, const JobSpec& spec,
                                    const std::string& name) {
  for (const JobPartition& partition : PartitionsOf(policy, spec)) {
    if (partition.name == EffectivePartition(name)) {
      return partition;
    }
  }
  return std::nullopt;
}

}  // namespace muster::core

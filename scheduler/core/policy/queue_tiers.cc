#include "scheduler/core/policy/queue_tiers.h"

#include <algorithm>
#include <set>

#include "scheduler/core/state/tables/usage_keys.h"

namespace muster::core {

QueueTiers::QueueTiers(const SitePolicy* site) : site_(site) {
  if (site == nullptr) {
    return;
  }
  std::set<std::uint32_t> tiers;
  for (const auto& [name, partition] : site->partitions) {
    tiers.insert(partition.priority_tier);
  }
  differ_ = tiers.size() > 1;
  for (const auto& [name, qos] : site->qos) {
    differ_ = DepthOf(name) > 0 || differ_;
  }
}

std::uint32_t QueueTiers::DepthOf(const std::string& qos) {
  const auto known = depths_.find(qos);
  if (known != depths_.end()) {
    return known->second;
  }
  std::uint32_t depth = 0;
  if (const Qos* rules = FindQos(*site_, qos)) {
    for (const std::string& below : rules->preempt) {
      depth = std::max(depth, DepthOf(below) + 1);
    }
  }
  depths_[qos] = depth;
  return depth;
}

std::uint64_t QueueTiers::Of(const JobSpec& spec) const {
  if (!differ_) {
    return 0;
  }
  std::uint32_t tier = 0;
  for (const std::string& name : PartitionNames(spec)) {
    const Partition* partition = FindPartition(*site_, name);
    tier = std::max(tier, partition == nullptr ? 1 : partition->priority_tier);
  }
  const auto depth = depths_.find(EffectiveQos(spec.qos));
  return std::uint64_t{tier} << 32U | (depth == depths_.end() ? 0 : depth->second);
}

}  // namespace muster::core

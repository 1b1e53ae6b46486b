#include "agent/usage_sampler.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace muster {

std::vector<std::string> UsageSampler::Sample(
    const std::map<AttemptKey, const NodeAllocation*>& running, SteadyTime now) {
  std::vector<std::string> lost;
  const std::vector<Change> changes = Changes(now, lost);
  std::erase_if(sums_, [&](const auto& sum) { return running.count(sum.first) == 0; });
  for (const auto& [key, part] : running) {
    if (part != nullptr && !part->gpus.empty()) {
      Add(key, *part, changes);
    }
  }
  return lost;
}

std::vector<UsageSampler::Change> UsageSampler::Changes(SteadyTime now,
                                                        std::vector<std::string>& lost) {
  std::vector<Change> changes(machine_.gpus.size());
  const bool first = last_ == SteadyTime::min();
  const double elapsed_ms =
      first ? 0 : std::chrono::duration<double, std::milli>(now - last_).count();
  for (const GpuReading& reading : meter_.Read()) {
    GpuReading& before = before_[reading.uuid];
    if (reading.lost && !before.lost) {
      lost.push_back(reading.uuid);
    }
    for (std::size_t i = 0; i < machine_.gpus.size(); ++i) {
      if (machine_.gpus[i].uuid == reading.uuid) {
        changes[i].busy_ms = elapsed_ms * reading.busy_percent / 100;
        changes[i].memory = reading.memory_used;
        // A driver that was loaded again counts from nothing.
        changes[i].energy_mj = first || reading.energy_mj < before.energy_mj
                                   ? 0
                                   : static_cast<double>(reading.energy_mj - before.energy_mj);
      }
    }
    before = reading;
  }
  last_ = now;
  return changes;
}

void UsageSampler::Add(const AttemptKey& key, const NodeAllocation& part,
                       const std::vector<Change>& changes) {
  const std::string path = state_.Attempt(key).Sampled();
  const auto [found, fresh] = sums_.try_emplace(key);
  SampledUsage& sum = found->second;
  if (fresh) {
    sum = ReadSampledUsage(path);
    // What was done before it came is not its own.
    WriteSampledUsage(path, sum);
    return;
  }
  for (const GpuGrant& grant : part.gpus) {
    if (grant.gpu >= changes.size()) {
      continue;
    }
    const Change& change = changes[grant.gpu];
    const double share = static_cast<double>(grant.share.value()) / kWholeGpu.value();
    sum.gpu_busy_ms += static_cast<std::uint64_t>(change.busy_ms * share);
    sum.gpu_energy_mj += static_cast<std::uint64_t>(change.energy_mj * share);
    sum.gpu_memory = std::max(sum.gpu_memory, change.memory.value());
  }
  WriteSampledUsage(path, sum);
}

}  // namespace muster

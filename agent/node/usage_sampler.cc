#include "agent/node/usage_sampler.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "agent/node/process_usage.h"
#include "scheduler/runtime/cgroup/cgroup_tree.h"

namespace muster::agent {
namespace {

// One look at how busy a GPU is says little of a job that was there for a moment.
constexpr int kLooksLeast = 2;

Duration CpuTime(const Usage& usage) {
  return usage.user_cpu + usage.system_cpu;
}

std::optional<Bytes> MemoryOf(const std::string& cgroup, const char* file) {
  std::uint64_t bytes = 0;
  return absl::SimpleAtoi(ReadCgroupFile(cgroup, file), &bytes) ? std::optional(Bytes(bytes))
                                                                : std::nullopt;
}

// Adds what the group says: cpu.stat ("user_usec 12", a line each) and memory. False when it does
// not say both.
bool TakeGroup(const std::string& cgroup, Usage& used) {
  const std::string times = ReadCgroupFile(cgroup, "cpu.stat");
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(times, '\n'))) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    std::int64_t microseconds = 0;
    if (words.size() != 2 || !absl::SimpleAtoi(words[1], &microseconds)) {
      continue;
    }
    const auto time = std::chrono::duration_cast<Duration>(std::chrono::microseconds(microseconds));
    if (words[0] == "user_usec") {
      used.user_cpu = time;
    } else if (words[0] == "system_usec") {
      used.system_cpu = time;
    }
  }
  // Kernels before 5.19 know no peak.
  const std::optional<Bytes> now = MemoryOf(cgroup, "memory.current");
  used.group_memory =
      std::max(MemoryOf(cgroup, "memory.peak").value_or(Bytes()), now.value_or(Bytes()));
  return !times.empty() && now.has_value();
}

void Raise(const Usage& used, Usage& sum) {
  sum.user_cpu = std::max(sum.user_cpu, used.user_cpu);
  sum.system_cpu = std::max(sum.system_cpu, used.system_cpu);
  sum.peak_memory = std::max(sum.peak_memory, used.peak_memory);
  sum.group_memory = std::max(sum.group_memory, used.group_memory);
}

}  // namespace

std::vector<std::string> UsageSampler::Sample(const Running& running, SteadyTime now) {
  std::vector<std::string> lost;
  const std::vector<Change> changes = Changes(now, lost);
  gpu_jobs_.Write(running);
  Meet(running);
  TakeProcesses(running);
  ShareCpuEnergy();
  for (auto& [key, sum] : sums_) {
    const NodeAllocation* const part = running.at(key).part;
    if (part != nullptr && !sum.fresh) {  // what was done before it came is not its own
      AddGpus(*part, changes, sum);
    }
    sum.fresh = false;
    if (sum.usage != sum.written) {
      WriteSampledUsage(state_.Attempt(key).Sampled(), sum.usage);
      sum.written = sum.usage;
    }
  }
  last_ = now;
  return lost;
}

std::map<AttemptKey, Usage> UsageSampler::used() const {
  std::map<AttemptKey, Usage> used;
  for (const auto& [key, sum] : sums_) {
    used.emplace(key, sum.usage);
  }
  return used;
}

std::vector<topology::GpuReading> UsageSampler::faulty_gpus() const {
  std::vector<topology::GpuReading> faulty;
  for (const auto& [uuid, reading] : before_) {
    if (reading.uncorrected_ecc > 0 || reading.xids > 0) {
      faulty.push_back(reading);
    }
  }
  return faulty;
}

void UsageSampler::Meet(const Running& running) {
  std::erase_if(sums_, [&](const auto& sum) { return running.count(sum.first) == 0; });
  for (const auto& [key, attempt] : running) {
    const auto [found, fresh] = sums_.try_emplace(key);
    if (fresh) {
      Sum& sum = found->second;
      sum.usage = ReadSampledUsage(state_.Attempt(key).Sampled());
      sum.written = sum.usage;
      sum.cpu = CpuTime(sum.usage);
    }
  }
}

std::vector<UsageSampler::Change> UsageSampler::Changes(SteadyTime now,
                                                        std::vector<std::string>& lost) {
  std::vector<Change> changes(machine_.gpus.size());
  if (sources_.gpus == nullptr) {
    return changes;
  }
  const bool first = last_ == SteadyTime::min();
  const double elapsed_ms =
      first ? 0 : std::chrono::duration<double, std::milli>(now - last_).count();
  for (const topology::GpuReading& reading : sources_.gpus->Read()) {
    topology::GpuReading& before = before_[reading.uuid];
    if (reading.lost && !before.lost) {
      lost.push_back(reading.uuid);
    }
    for (std::size_t i = 0; i < machine_.gpus.size(); ++i) {
      if (machine_.gpus[i].uuid == reading.uuid) {
        if (reading.busy_percent.has_value()) {
          changes[i].busy_ms = elapsed_ms * *reading.busy_percent / 100;
        }
        changes[i].memory = reading.memory_used;
        // A driver that was loaded again counts from nothing.
        changes[i].energy_mj = first || reading.energy_mj < before.energy_mj
                                   ? 0
                                   : static_cast<double>(reading.energy_mj - before.energy_mj);
      }
    }
    before = reading;
  }
  return changes;
}

void UsageSampler::AddGpus(const NodeAllocation& part, const std::vector<Change>& changes,
                           Sum& sum) const {
  std::optional<double> busy_ms;
  for (const GpuGrant& grant : part.gpus) {
    if (sources_.gpus == nullptr || grant.gpu >= changes.size()) {
      continue;
    }
    const Change& change = changes[grant.gpu];
    const double share = static_cast<double>(grant.share.value()) / kWholeGpu.value();
    if (change.busy_ms.has_value()) {
      busy_ms = busy_ms.value_or(0) + *change.busy_ms * share;
    }
    sum.usage.gpu_energy_mj += static_cast<std::uint64_t>(change.energy_mj * share);
    sum.usage.gpu_memory = std::max(sum.usage.gpu_memory, change.memory);
  }
  if (busy_ms.has_value()) {
    AddBusy(Duration(static_cast<std::int64_t>(*busy_ms)), sum);
  }
}

void UsageSampler::AddBusy(Duration busy, Sum& sum) {
  sum.gpu_untold += busy;
  ++sum.gpu_looks;
  const bool told = sum.usage.gpu_busy > Duration(0);  // by the agent before, too
  if (told || sum.gpu_looks >= kLooksLeast) {
    sum.usage.gpu_busy += std::exchange(sum.gpu_untold, Duration(0));
    sum.usage.gpu_busy = std::max(sum.usage.gpu_busy, Duration(1));
  }
}

void UsageSampler::TakeProcesses(const Running& running) {
  std::map<AttemptKey, Usage> groups;
  std::set<pid_t> trees;
  for (const auto& [key, attempt] : running) {
    if (attempt.cgroup.empty() || !TakeGroup(attempt.cgroup, groups[key])) {
      trees.insert(attempt.supervisor);
    }
  }
  trees.erase(0);
  const std::map<pid_t, Usage> below = UsageBelow(trees, sources_.proc);
  for (auto& [key, sum] : sums_) {
    Raise(groups[key], sum.usage);
    if (const auto tree = below.find(running.at(key).supervisor); tree != below.end()) {
      Raise(tree->second, sum.usage);
    }
    const Duration cpu = CpuTime(sum.usage);
    sum.cpu_more = cpu - std::exchange(sum.cpu, cpu);
  }
}

void UsageSampler::ShareCpuEnergy() {
  if (sources_.cpus == nullptr) {
    return;
  }
  const std::uint64_t energy_uj = sources_.cpus->Read();
  const Duration busy = BusyTime(sources_.proc);
  const auto taken_mj =
      static_cast<double>(energy_uj - std::exchange(cpu_energy_uj_, energy_uj)) / 1000;
  Duration all = busy - std::exchange(busy_, busy);
  Duration theirs{0};
  for (const auto& [key, sum] : sums_) {
    theirs += sum.cpu_more;
  }
  all = std::max(all, theirs);
  // At the first sample nobody knows in what time that was.
  if (last_ == SteadyTime::min() || all <= Duration(0)) {
    return;
  }
  for (auto& [key, sum] : sums_) {
    const double share =
        static_cast<double>(sum.cpu_more.count()) / static_cast<double>(all.count());
    sum.usage.cpu_energy_mj += static_cast<std::uint64_t>(taken_mj * share);
  }
}

}  // namespace muster::agent

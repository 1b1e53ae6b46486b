#include "agent/node/usage_sampler.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/node/process_table.h"
#include "agent/node/process_usage.h"
#include "scheduler/base/utf8.h"
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

void RaiseStorage(const Usage& used, Usage& sum) {
  // Nothing is less than any amount.
  sum.read_bytes = std::max(sum.read_bytes, used.read_bytes);
  sum.written_bytes = std::max(sum.written_bytes, used.written_bytes);
  sum.io_blocked = std::max(sum.io_blocked, used.io_blocked);
  sum.called_bytes = std::max(sum.called_bytes, used.called_bytes);
  sum.major_faults = std::max(sum.major_faults, used.major_faults);
}

void Raise(const Usage& used, Usage& sum) {
  sum.user_cpu = std::max(sum.user_cpu, used.user_cpu);
  sum.system_cpu = std::max(sum.system_cpu, used.system_cpu);
  sum.peak_memory = std::max(sum.peak_memory, used.peak_memory);
  sum.group_memory = std::max(sum.group_memory, used.group_memory);
}

// What the group alone knows: its wait, and what its devices did, for where its processes cannot be
// seen.
void RaiseByGroup(const std::string& cgroup, bool seen, Usage& sum) {
  Usage told;
  if (const std::optional<std::chrono::microseconds> wait = CgroupIoWait(cgroup)) {
    told.io_blocked = std::chrono::duration_cast<Duration>(*wait);
  }
  if (const std::optional<CgroupIo> io = seen ? std::nullopt : CgroupDeviceIo(cgroup)) {
    told.read_bytes = Bytes(io->read);
    told.written_bytes = Bytes(io->written);
  }
  RaiseStorage(told, sum);
}

Duration Milliseconds(double count) {
  return Duration(static_cast<std::int64_t>(count));
}

// Adds to what may not have been told yet.
template <class Amount>
void AddTo(std::optional<Amount>& sum, Amount more) {
  sum = sum.has_value() ? *sum + more : more;
}

}  // namespace

void UsageSampler::Sample(const Running& running, SteadyTime now) {
  const std::vector<Change> changes = Changes(now);
  gpu_jobs_.Write(running);
  const bool some_ended = std::any_of(
      sums_.begin(), sums_.end(), [&](const auto& sum) { return running.count(sum.first) == 0; });
  Meet(running, now);
  const bool alone = sums_.size() == 1 && !some_ended;
  TakeProcesses(running, alone, now);
  ShareCpuEnergy();
  AddFabric(alone, now);
  for (auto& [key, sum] : sums_) {
    const NodeAllocation* const part = running.at(key).part;
    sum.has_gpus = part != nullptr && !part->gpus.empty();
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
}

Duration UsageSampler::NextIn(Duration every, SteadyTime now) const {
  constexpr int kLooksOfAge = 8;
  Duration next = every;
  for (const auto& [key, sum] : sums_) {
    if (sources_.gpus != nullptr && sum.has_gpus) {
      const Duration age = std::chrono::duration_cast<Duration>(now - sum.since);
      next = std::min(next, std::max<Duration>(age / kLooksOfAge, kLeast));
    }
  }
  return next;
}

std::map<AttemptKey, Usage> UsageSampler::used() const {
  std::map<AttemptKey, Usage> used;
  for (const auto& [key, sum] : sums_) {
    used.emplace(key, sum.usage);
  }
  return used;
}

std::vector<topology::GpuReading> UsageSampler::gpus() const {
  std::vector<topology::GpuReading> gpus;
  for (const auto& [uuid, reading] : before_) {
    gpus.push_back(reading);
  }
  return gpus;
}

void UsageSampler::Meet(const Running& running, SteadyTime now) {
  std::erase_if(sums_, [&](const auto& sum) { return running.count(sum.first) == 0; });
  for (const auto& [key, attempt] : running) {
    const auto [found, fresh] = sums_.try_emplace(key);
    if (fresh) {
      Sum& sum = found->second;
      sum.usage = ReadSampledUsage(state_.Attempt(key).Sampled());
      sum.written = sum.usage;
      sum.cpu = CpuTime(sum.usage);
      sum.since = now;
      OpenCounters(attempt, sum);
    }
  }
}

std::vector<UsageSampler::Change> UsageSampler::Changes(SteadyTime now) {
  std::vector<Change> changes(machine_.gpus.size());
  if (sources_.gpus == nullptr) {
    return changes;
  }
  const bool first = last_ == SteadyTime::min();
  const double elapsed_ms =
      first ? 0 : std::chrono::duration<double, std::milli>(now - last_).count();
  for (const topology::GpuReading& reading : sources_.gpus->Read()) {
    topology::GpuReading& before = before_[reading.uuid];
    for (std::size_t i = 0; i < machine_.gpus.size(); ++i) {
      if (machine_.gpus[i].uuid == reading.uuid) {
        changes[i] = ChangeSince(before, reading, elapsed_ms);
        changes[i].energy_mj = first ? 0 : changes[i].energy_mj;
      }
    }
    before = reading;
  }
  return changes;
}

UsageSampler::Change UsageSampler::ChangeSince(const topology::GpuReading& before,
                                               const topology::GpuReading& now, double elapsed_ms) {
  Change change;
  change.elapsed_ms = elapsed_ms;
  if (now.busy_percent.has_value()) {
    change.busy_ms = elapsed_ms * *now.busy_percent / 100;
  }
  if (now.memory_busy_percent.has_value()) {
    change.memory_busy_ms = elapsed_ms * *now.memory_busy_percent / 100;
  }
  change.counters = now.counters;
  change.memory = now.memory_used.value_or(Bytes());
  // A driver that was loaded again counts from nothing.
  change.energy_mj =
      now.energy_mj < before.energy_mj ? 0 : static_cast<double>(now.energy_mj - before.energy_mj);
  return change;
}

void UsageSampler::AddGpus(const NodeAllocation& part, const std::vector<Change>& changes,
                           Sum& sum) const {
  std::optional<Looks> looks;
  for (const GpuGrant& grant : part.gpus) {
    if (sources_.gpus == nullptr || grant.gpu >= changes.size()) {
      continue;
    }
    const Change& change = changes[grant.gpu];
    const double share = static_cast<double>(grant.share.value()) / kWholeGpu.value();
    if (change.busy_ms.has_value()) {
      looks = looks.value_or(Looks());
      looks->watched_ms += change.elapsed_ms * share;
      looks->busy_ms += *change.busy_ms * share;
      if (change.memory_busy_ms.has_value()) {
        AddTo(looks->memory_busy_ms, *change.memory_busy_ms * share);
      }
    }
    if (change.counters.has_value()) {
      AddCounters(*change.counters, change.elapsed_ms * share, sum.usage);
    }
    sum.usage.gpu_energy_mj += static_cast<std::uint64_t>(change.energy_mj * share);
    sum.usage.gpu_memory = std::max(sum.usage.gpu_memory, change.memory);
  }
  if (looks.has_value()) {
    AddLooks(*looks, sum);
  }
}

void UsageSampler::AddLooks(const Looks& looks, Sum& sum) {
  sum.untold.watched_ms += looks.watched_ms;
  sum.untold.busy_ms += looks.busy_ms;
  if (looks.memory_busy_ms.has_value()) {
    AddTo(sum.untold.memory_busy_ms, *looks.memory_busy_ms);
  }
  ++sum.gpu_looks;
  const bool told = sum.usage.gpu_busy > Duration(0);  // by the agent before, too
  if (told || sum.gpu_looks >= kLooksLeast) {
    const Looks all = std::exchange(sum.untold, Looks());
    sum.usage.gpu_watched += Milliseconds(all.watched_ms);
    sum.usage.gpu_busy += Milliseconds(all.busy_ms);
    sum.usage.gpu_busy = std::max(sum.usage.gpu_busy, Duration(1));
    if (all.memory_busy_ms.has_value()) {
      AddTo(sum.usage.gpu_memory_busy, Milliseconds(*all.memory_busy_ms));
    }
  }
}

void UsageSampler::AddCounters(const topology::GpuCounters& counters, double milliseconds,
                               Usage& usage) {
  usage.gpu_counted += Milliseconds(milliseconds);
  AddTo(usage.sm_active, Milliseconds(milliseconds * counters.sm_active));
  AddTo(usage.tensor_active, Milliseconds(milliseconds * counters.tensor_active));
  AddTo(usage.dram_active, Milliseconds(milliseconds * counters.dram_active));
  const auto moved = [milliseconds](double bytes_a_second) {
    return Bytes(static_cast<std::uint64_t>(bytes_a_second * milliseconds / 1000));
  };
  if (counters.nvlink.has_value()) {
    AddTo(usage.nvlink_bytes, moved(*counters.nvlink));
  }
  if (counters.pcie.has_value()) {
    AddTo(usage.pcie_bytes, moved(*counters.pcie));
  }
}

void UsageSampler::OpenCounters(const RunningAttempt& attempt, Sum& sum) {
  if (attempt.cgroup.empty() || attempt.part == nullptr) {
    return;
  }
  absl::StatusOr<GroupCounters> counters =
      GroupCounters::Open(attempt.cgroup, attempt.part->cpus, MemoryEvents());
  if (counters.ok()) {
    sum.counters = *std::move(counters);
  }
}

void UsageSampler::TakeCounters(Sum& sum) {
  if (!sum.counters.has_value()) {
    return;
  }
  const absl::StatusOr<std::array<std::uint64_t, 2>> counted = sum.counters->Read();
  if (!counted.ok()) {
    return;
  }
  // Scaled counts are estimates: a smaller one than before is none.
  const auto more = [&](std::size_t i) {
    return (*counted)[i] - std::min(sum.counted[i], (*counted)[i]);
  };
  AddTo(sum.usage.instructions, more(0));
  AddTo(sum.usage.cache_misses, more(1));
  sum.counted = *counted;
}

void UsageSampler::TakeProcesses(const Running& running, bool alone, SteadyTime now) {
  std::map<AttemptKey, Usage> groups;
  std::set<AttemptKey> ungrouped;
  std::set<pid_t> trees;
  for (const auto& [key, attempt] : running) {
    if (attempt.cgroup.empty() || !TakeGroup(attempt.cgroup, groups[key])) {
      ungrouped.insert(key);
    }
    trees.insert(attempt.supervisor);
  }
  trees.erase(0);
  const ProcessTable table = trees.empty() ? ProcessTable() : ReadProcessTable(sources_.proc);
  TreesIo io;
  const std::map<pid_t, Usage> below = UsageBelow(trees, table, sources_.proc, &io);
  AddFiles(running, alone, io);
  AddNetwork(running, ProcessesBelow(trees, table), now);
  for (auto& [key, sum] : sums_) {
    const RunningAttempt& attempt = running.at(key);
    Raise(groups[key], sum.usage);
    const auto tree = below.find(attempt.supervisor);
    if (tree != below.end()) {
      RaiseStorage(tree->second, sum.usage);
      if (ungrouped.count(key) != 0) {
        Raise(tree->second, sum.usage);
      }
    }
    if (!attempt.cgroup.empty()) {
      const bool seen = tree != below.end() && tree->second.read_bytes.has_value();
      RaiseByGroup(attempt.cgroup, seen, sum.usage);
    }
    TakeCounters(sum);
    const Duration cpu = CpuTime(sum.usage);
    sum.cpu_more = cpu - std::exchange(sum.cpu, cpu);
  }
}

void UsageSampler::AddFiles(const Running& running, bool alone, const TreesIo& io) {
  std::map<pid_t, std::vector<FileSystemUse>> uses = files_.Look(io);
  const std::vector<FileSystemUse> counted =
      sources_.debug.empty() ? std::vector<FileSystemUse>() : mounts_.Look();
  for (auto& [key, sum] : sums_) {
    std::vector<FileSystemUse>& own = uses[running.at(key).supervisor];
    if (alone && !sum.fresh) {
      for (const FileSystemUse& mount : counted) {
        std::erase_if(own, [&](const FileSystemUse& use) { return use.mount == mount.mount; });
        if (!(mount.read + mount.written).zero()) {
          own.push_back(mount);
        }
      }
    }
    for (FileSystemUse& use : own) {
      use.mount = Printable(use.mount);  // names of mounts may be any bytes
    }
    AddFileSystems(own, sum.usage.file_systems);
  }
}

void UsageSampler::AddNetwork(const Running& running, const ProcessTrees& trees, SteadyTime now) {
  std::set<pid_t> resumed;
  for (const auto& [key, sum] : sums_) {
    if (sum.fresh && sum.usage.net_sent.has_value()) {
      resumed.insert(running.at(key).supervisor);
    }
  }
  const std::map<pid_t, NetworkUse> uses = network_.Look(trees, resumed, now);
  for (auto& [key, sum] : sums_) {
    const auto use = uses.find(running.at(key).supervisor);
    if (use == uses.end()) {
      continue;
    }
    AddTo(sum.usage.net_sent, use->second.sent);
    AddTo(sum.usage.net_received, use->second.received);
    if (use->second.resent.has_value()) {
      AddTo(sum.usage.net_resent, *use->second.resent);
    }
    if (use->second.blocked.has_value()) {
      AddTo(sum.usage.net_blocked, *use->second.blocked);
    }
  }
}

void UsageSampler::AddFabric(bool alone, SteadyTime now) {
  const std::optional<FabricUse> use = fabric_.Look();
  if (!use.has_value() || last_ == SteadyTime::min()) {
    return;
  }
  const Duration elapsed = std::chrono::duration_cast<Duration>(now - last_);
  for (auto& [key, sum] : sums_) {
    if (sum.fresh) {
      continue;  // nobody knows what of it was before it came
    }
    if (!alone) {
      sum.usage.fabric_shared += elapsed;
      continue;
    }
    sum.usage.fabric_counted += elapsed;
    AddTo(sum.usage.fabric_sent, use->sent);
    AddTo(sum.usage.fabric_received, use->received);
    AddTo(sum.usage.fabric_busy, use->busy);
    if (use->errors.has_value()) {
      AddTo(sum.usage.fabric_errors, *use->errors);
    }
    if (use->retries.has_value()) {
      AddTo(sum.usage.fabric_retries, *use->retries);
    }
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

#include "agent/node/pace/pace_sampler.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>

#include "agent/supervisor/attempt/attempt_directory.h"
#include "agent/supervisor/attempt/reported_values.h"

namespace muster::agent {
namespace {

constexpr double kPaceThousandths = 1000;
constexpr double kNsOfMs = 1e6;

GpuLook LookOf(const topology::GpuReading& gpu, Duration span) {
  GpuLook look;
  look.span = span;
  look.busy_percent = gpu.busy_percent;
  look.clock_mhz = gpu.clock_mhz;
  look.clock_most_mhz = gpu.clock_most_mhz;
  look.brakes = gpu.brakes;
  look.link = gpu.link;
  if (gpu.counters.has_value()) {
    look.work = static_cast<std::uint32_t>(std::lround(gpu.counters->sm_active * kPaceThousandths));
  }
  return look;
}

GpuWork WorkIn(const topology::GpuCounters& counters, Duration span) {
  const auto part = [span](double share) {
    return Duration(std::llround(share * static_cast<double>(span.count())));
  };
  const auto moved = [span](const std::optional<double>& bytes_a_second) {
    constexpr double kMsOfSecond = 1000;
    return bytes_a_second.has_value()
               ? std::optional(Bytes(static_cast<std::uint64_t>(
                     *bytes_a_second * static_cast<double>(span.count()) / kMsOfSecond)))
               : std::nullopt;
  };
  return {span,
          part(counters.sm_active),
          part(counters.tensor_active),
          part(counters.dram_active),
          moved(counters.nvlink),
          moved(counters.pcie)};
}

std::uint32_t InThousandths(std::int64_t part, double whole) {
  return static_cast<std::uint32_t>(
      std::lround(static_cast<double>(part) * kPaceThousandths / whole));
}

using Marks = std::map<Teller, ReportedMark>;

Marks MarksIn(const std::string& reported) {
  Marks marks;
  for (const ReportedMark& mark : ReadReported(reported).marks) {
    marks.emplace(mark.teller, mark);
  }
  return marks;
}

// Of a rank for which several processes say steps, the newest counts.
void TakeMarks(const RankName& rank, const std::vector<pid_t>& processes, const Marks& marks,
               Time wall, RankWindow& window) {
  const ReportedMark* newest = nullptr;
  const auto take = [&](const Teller& teller) {
    const auto found = marks.find(teller);
    if (found != marks.end() && (newest == nullptr || found->second.time > newest->time)) {
      newest = &found->second;
    }
  };
  take({rank.step, rank.rank, 0});
  for (const pid_t pid : processes) {
    take({0, 0, pid});
  }
  if (newest != nullptr) {
    window.Mark(newest->step, newest->time, wall);
  }
}

}  // namespace

void PaceSampler::Sample(const Running& running, const std::vector<topology::GpuReading>& gpus,
                         SteadyTime now, Time wall) {
  const Duration span =
      last_.has_value() ? std::chrono::duration_cast<Duration>(now - *last_) : Duration(0);
  last_ = now;
  SampleGpus(gpus, span);
  std::erase_if(attempts_, [&running](const auto& seen) { return running.count(seen.first) == 0; });
  std::optional<ProcessTable> table;  // which is read where there are ranks
  ticks_before_ = std::exchange(ticks_, {});
  for (const auto& [key, attempt] : running) {
    LookAt(key, attempt, span, wall, table);
  }
}

void PaceSampler::LookAt(const AttemptKey& key, const RunningAttempt& attempt, Duration span,
                         Time wall, std::optional<ProcessTable>& table) {
  const AttemptDirectory directory = state_.Attempt(key);
  const auto [found, fresh] =
      attempts_.try_emplace(key, SeenAttempt{RankList(directory.Journal()), {}});
  SeenAttempt& seen = found->second;
  if (fresh) {
    seen.record = ReadGpuRecord(directory.Gpus());
  }
  const GpuRecord written = seen.record;
  const std::map<RankName, RankHere>& here = seen.list.Read();
  const std::optional<RankHere>& script = seen.list.script();
  if ((!here.empty() || (script.has_value() && !worked_.empty())) && !table.has_value()) {
    table = ReadProcessTable(proc_);
    ticks_ = ReadCpuTicks(proc_);
  }
  const Processes processes =
      here.empty() ? Processes() : ProcessesOf(here, attempt.supervisor, *table);
  std::erase_if(seen.ranks, [&](const auto& rank) {
    const auto listed = here.find(rank.first);
    return listed == here.end() || processes.count(listed->second.pid) == 0;
  });
  const Marks marks = here.empty() ? Marks() : MarksIn(directory.Reported());
  for (const auto& [name, rank] : here) {
    if (const auto its = processes.find(rank.pid); its != processes.end()) {
      if (Look(rank, its->second, span, seen.ranks[name])) {
        AddWork(name, rank, seen.record);
      }
      TakeMarks(name, its->second, marks, wall, seen.ranks[name].window);
    }
  }
  const bool runs = script.has_value() && table.has_value() && table->count(script->pid) != 0;
  if (std::exchange(seen.script, runs) && runs) {
    AddWork(RankName(), *script, seen.record);
  }
  if (seen.record != written) {
    WriteGpuRecord(directory.Gpus(), seen.record);
  }
}

void PaceSampler::AddWork(const RankName& name, const RankHere& here, GpuRecord& record) const {
  for (const std::string& gpu : here.gpus) {
    if (const auto work = worked_.find(gpu); work != worked_.end()) {
      record.Add(name, work->second);
    }
  }
}

void PaceSampler::SampleGpus(const std::vector<topology::GpuReading>& gpus, Duration span) {
  std::set<std::string> there;
  worked_.clear();
  for (const topology::GpuReading& gpu : gpus) {
    there.insert(gpu.uuid);
    const auto [window, fresh] = gpus_.try_emplace(gpu.uuid);
    if (!fresh) {
      window->second.Add(LookOf(gpu, span));
      if (gpu.counters.has_value() && span > Duration(0)) {
        worked_[gpu.uuid] = WorkIn(*gpu.counters, span);
      }
    }
  }
  std::erase_if(gpus_, [&there](const auto& gpu) { return there.count(gpu.first) == 0; });
}

PaceSampler::Processes PaceSampler::ProcessesOf(const std::map<RankName, RankHere>& here,
                                                pid_t supervisor, const ProcessTable& table) {
  const std::set<pid_t> tree = {supervisor};
  std::set<pid_t> firsts;
  for (const auto& [name, rank] : here) {
    firsts.insert(rank.pid);
  }
  Processes processes;
  std::unordered_map<pid_t, pid_t> known;
  std::unordered_map<pid_t, pid_t> supervised;
  for (const auto& [pid, stat] : table) {
    const pid_t first = firsts.count(pid) != 0 ? pid : RootOf(pid, firsts, table, known);
    if (first != 0 && supervisor != 0 && RootOf(pid, tree, table, supervised) == supervisor) {
      processes[first].push_back(pid);
    }
  }
  return processes;
}

bool PaceSampler::Look(const RankHere& here, const std::vector<pid_t>& processes, Duration span,
                       SeenRank& rank) const {
  std::optional<ThreadTimes> threads = ReadThreadTimes(processes, proc_);
  if (std::exchange(rank.pid, here.pid) != here.pid) {
    rank = SeenRank{here.pid, std::move(threads), {}};  // its first look, at which nothing is known
    return false;
  }
  RankLook look;
  look.span = span;
  look.stolen = StolenOf(here.cpus, ticks_before_, ticks_);
  if (threads.has_value() && rank.threads.has_value() && span > Duration(0)) {
    const ThreadChange change = ChangeOf(*rank.threads, *threads);
    const std::int64_t wanted = change.ran_ns + change.waited_ns;
    look.wanted = InThousandths(wanted, static_cast<double>(span.count()) * kNsOfMs);
    if (wanted > 0) {
      look.granted = InThousandths(change.ran_ns, static_cast<double>(wanted));
    }
    if (change.busiest != 0) {
      look.cpu_mhz = CpuClockOf(change.process, change.busiest, proc_, cpus_);
    }
  }
  rank.threads = std::move(threads);
  rank.window.Add(look);
  return true;
}

std::map<AttemptKey, std::vector<RankPace>> PaceSampler::ranks() const {
  std::map<AttemptKey, std::vector<RankPace>> all;
  for (const auto& [key, attempt] : attempts_) {
    for (const auto& [name, rank] : attempt.ranks) {
      RankPace pace = rank.window.Now();
      pace.step = StepId(name.step);
      pace.rank = name.rank;
      if (pace.looks > 0) {
        all[key].push_back(pace);
      }
    }
  }
  return all;
}

std::optional<GpuPace> PaceSampler::PaceOf(const std::string& gpu) const {
  const auto found = gpus_.find(gpu);
  const GpuPace pace = found == gpus_.end() ? GpuPace() : found->second.Now();
  return pace.span == Duration(0) ? std::nullopt : std::optional(pace);
}

void PaceSampler::AddErrors(const AttemptKey& key, const std::vector<std::string>& texts) {
  const auto found = attempts_.find(key);
  if (found == attempts_.end()) {
    return;
  }
  GpuRecord& record = found->second.record;
  const std::size_t before = record.errors.size();
  record.AddErrors(texts);
  if (record.errors.size() != before) {
    WriteGpuRecord(state_.Attempt(key).Gpus(), record);
  }
}

std::optional<GpuWork> PaceSampler::WorkOf(const std::string& gpu) const {
  const auto found = worked_.find(gpu);
  return found == worked_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace muster::agent

#include "agent/node/pace/pace_sampler.h"

#include <chrono>
#include <cmath>
#include <set>
#include <unordered_map>
#include <utility>

#include "agent/supervisor/attempt/reported_values.h"

namespace muster::agent {
namespace {

constexpr double kPaceThousandths = 1000;
constexpr double kNsOfMs = 1e6;

GpuLook LookAt(const topology::GpuReading& gpu, Duration span) {
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
    SeenAttempt& seen =
        attempts_.try_emplace(key, SeenAttempt{RankList(state_.Attempt(key).Journal()), {}})
            .first->second;
    const std::map<RankName, RankHere>& here = seen.list.Read();
    if (!here.empty() && !table.has_value()) {
      table = ReadProcessTable(proc_);
      ticks_ = ReadCpuTicks(proc_);
    }
    const Processes processes =
        here.empty() ? Processes() : ProcessesOf(here, attempt.supervisor, *table);
    std::erase_if(seen.ranks, [&](const auto& rank) {
      const auto found = here.find(rank.first);
      return found == here.end() || processes.count(found->second.pid) == 0;
    });
    const Marks marks = here.empty() ? Marks() : MarksIn(state_.Attempt(key).Reported());
    for (const auto& [name, rank] : here) {
      if (const auto found = processes.find(rank.pid); found != processes.end()) {
        Look(rank, found->second, span, seen.ranks[name]);
        TakeMarks(name, found->second, marks, wall, seen.ranks[name].window);
      }
    }
  }
}

void PaceSampler::SampleGpus(const std::vector<topology::GpuReading>& gpus, Duration span) {
  std::set<std::string> there;
  for (const topology::GpuReading& gpu : gpus) {
    there.insert(gpu.uuid);
    const auto [window, fresh] = gpus_.try_emplace(gpu.uuid);
    if (!fresh) {
      window->second.Add(LookAt(gpu, span));
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

void PaceSampler::Look(const RankHere& here, const std::vector<pid_t>& processes, Duration span,
                       SeenRank& rank) const {
  std::optional<ThreadTimes> threads = ReadThreadTimes(processes, proc_);
  if (std::exchange(rank.pid, here.pid) != here.pid) {
    rank = SeenRank{here.pid, std::move(threads), {}};  // its first look, at which nothing is known
    return;
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

}  // namespace muster::agent

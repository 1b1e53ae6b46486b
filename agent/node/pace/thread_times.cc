#include "agent/node/pace/thread_times.h"

#include <dirent.h>

#include <array>
#include <memory>
#include <numeric>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "agent/node/process_table.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

constexpr std::size_t kCpuTicksFields = 8;  // user nice system idle iowait irq softirq steal
constexpr std::size_t kStealField = 7;
constexpr std::size_t kStatBytesMax = std::size_t{4} << 20;

std::optional<ThreadTime> ReadOne(const std::string& path, pid_t process) {
  std::array<char, 1024> buffer{};
  std::array<std::int64_t, 2> numbers{};  // ran, waited; how often follows
  if (ReadNumbers(ReadStart(path, buffer), numbers) < numbers.size()) {
    return std::nullopt;
  }
  return ThreadTime{numbers[0], numbers[1], process};
}

}  // namespace

std::optional<ThreadTimes> ReadThreadTimes(const std::vector<pid_t>& processes,
                                           const std::string& proc) {
  ThreadTimes times;
  bool unread = false;
  for (const pid_t process : processes) {
    const std::string tasks = absl::StrCat(proc, "/", process, "/task");
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(tasks.c_str()), closedir);
    if (directory == nullptr) {
      continue;
    }
    // NOLINTNEXTLINE(concurrency-mt-unsafe): a stream of our own
    while (const dirent* const entry = readdir(directory.get())) {
      const std::optional<pid_t> thread = PidOf(entry->d_name);
      if (!thread.has_value()) {
        continue;
      }
      if (times.size() == kThreadsMost) {
        return std::nullopt;
      }
      if (const std::optional<ThreadTime> time =
              ReadOne(absl::StrCat(tasks, "/", entry->d_name, "/schedstat"), process)) {
        times.emplace(*thread, *time);
      } else {
        unread = true;
      }
    }
  }
  return times.empty() && unread ? std::nullopt : std::optional(std::move(times));
}

ThreadChange ChangeOf(const ThreadTimes& before, const ThreadTimes& now) {
  ThreadChange change;
  std::int64_t most = 0;
  for (const auto& [thread, time] : now) {
    const auto found = before.find(thread);
    // A number that was given again began from nothing.
    const bool known = found != before.end() && found->second.ran_ns <= time.ran_ns &&
                       found->second.waited_ns <= time.waited_ns;
    const ThreadTime was = known ? found->second : ThreadTime();
    const std::int64_t ran = time.ran_ns - was.ran_ns;
    change.ran_ns += ran;
    change.waited_ns += time.waited_ns - was.waited_ns;
    if (ran > most) {
      most = ran;
      change.busiest = thread;
      change.process = time.process;
    }
  }
  return change;
}

std::optional<std::uint32_t> CpuClockOf(pid_t process, pid_t thread, const std::string& proc,
                                        const std::string& cpus) {
  const std::optional<ProcStat> stat =
      ReadProcStat(absl::StrCat(proc, "/", process, "/task/", thread, "/stat"));
  if (!stat.has_value()) {
    return std::nullopt;
  }
  std::array<char, 1024> buffer{};
  std::array<std::int64_t, 1> khz{};
  constexpr std::int64_t kKhzOfMhz = 1000;
  const std::string path =
      absl::StrCat(cpus, "/cpu", (*stat)[kProcessor], "/cpufreq/scaling_cur_freq");
  return ReadNumbers(ReadStart(path, buffer), khz) == 1 && khz[0] >= kKhzOfMhz
             ? std::optional(static_cast<std::uint32_t>(khz[0] / kKhzOfMhz))
             : std::nullopt;
}

std::map<std::uint32_t, CpuTicks> ReadCpuTicks(const std::string& proc) {
  std::map<std::uint32_t, CpuTicks> all;
  const absl::StatusOr<std::string> text = ReadFile(proc + "/stat", kStatBytesMax);
  for (const auto piece : absl::StrSplit(text.ok() ? *text : "", '\n')) {
    const std::string_view line(piece.data(), piece.size());
    constexpr std::string_view kCpu = "cpu";
    const std::size_t blank = line.find(' ');
    if (line.substr(0, kCpu.size()) != kCpu || blank == std::string_view::npos) {
      break;  // these lines are the first
    }
    const std::optional<pid_t> cpu = PidOf(line.substr(kCpu.size(), blank - kCpu.size()));
    std::array<std::int64_t, kCpuTicksFields> ticks{};
    if (cpu.has_value() && ReadNumbers(line.substr(blank), ticks) == ticks.size()) {
      all[static_cast<std::uint32_t>(*cpu)] = {
          std::accumulate(ticks.begin(), ticks.end(), std::int64_t{0}), ticks[kStealField]};
    }
  }
  return all;
}

std::optional<std::uint32_t> StolenOf(const CpuSet& cpus,
                                      const std::map<std::uint32_t, CpuTicks>& before,
                                      const std::map<std::uint32_t, CpuTicks>& now) {
  constexpr std::int64_t kThousandths = 1000;
  CpuTicks sum;
  for (const std::uint32_t cpu : cpus.Members()) {
    const auto was = before.find(cpu);
    const auto is = now.find(cpu);
    if (was != before.end() && is != now.end()) {
      sum.all += is->second.all - was->second.all;
      sum.stolen += is->second.stolen - was->second.stolen;
    }
  }
  return sum.all <= 0 || sum.stolen < 0 || sum.stolen > sum.all
             ? std::nullopt
             : std::optional(static_cast<std::uint32_t>(sum.stolen * kThousandths / sum.all));
}

}  // namespace muster::agent

#include "agent/node/counters/group_counters.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::agent {
namespace {

// What the kernel writes of a leader and one member (PERF_FORMAT_GROUP and both times).
struct Reading {
  std::uint64_t count = 0;
  std::uint64_t enabled = 0;  // nanoseconds
  std::uint64_t running = 0;
  std::array<std::uint64_t, 2> values{};
};

int OpenEvent(const PerfEvent& event, int group, std::uint32_t cpu, int leader) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.read_format =
      PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, group, static_cast<int>(cpu),
                                  leader, PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

std::array<PerfEvent, 2> MemoryEvents() {
  return {PerfEvent{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
          PerfEvent{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES}};
}

absl::StatusOr<GroupCounters> GroupCounters::Open(const std::string& cgroup, const CpuSet& cpus,
                                                  const std::array<PerfEvent, 2>& events) {
  const UniqueFd group(open(cgroup.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!group.valid()) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", cgroup));
  }
  std::vector<OnCpu> opened;
  for (const std::uint32_t cpu : cpus.Members()) {
    OnCpu& on = opened.emplace_back();
    on.leader.reset(OpenEvent(events[0], group.get(), cpu, -1));
    if (on.leader.valid()) {
      on.other.reset(OpenEvent(events[1], group.get(), cpu, on.leader.get()));
    }
    if (!on.other.valid()) {
      return absl::ErrnoToStatus(errno, absl::StrCat("no performance counters on CPU ", cpu));
    }
  }
  if (opened.empty()) {
    return absl::InvalidArgumentError("no performance counters: no CPUs");
  }
  return GroupCounters(std::move(opened));
}

absl::StatusOr<std::array<std::uint64_t, 2>> GroupCounters::Read() const {
  std::array<std::uint64_t, 2> sums{};
  bool any_ran = false;
  bool any_enabled = false;
  for (const OnCpu& on : cpus_) {
    Reading reading;
    if (read(on.leader.get(), &reading, sizeof reading) != sizeof reading) {
      return absl::ErrnoToStatus(errno, "cannot read performance counters");
    }
    any_enabled = any_enabled || reading.enabled > 0;
    any_ran = any_ran || reading.running > 0;
    for (std::size_t i = 0; i < sums.size() && reading.running > 0; ++i) {
      sums[i] += static_cast<std::uint64_t>(
          static_cast<double>(reading.values[i]) *
          (static_cast<double>(reading.enabled) / static_cast<double>(reading.running)));
    }
  }
  if (any_enabled && !any_ran) {
    return absl::UnavailableError("others hold the performance counters all the time");
  }
  return sums;
}

}  // namespace muster::agent

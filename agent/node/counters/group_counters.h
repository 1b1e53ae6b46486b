#pragma once

// What the processors' performance counters say of the processes of a control group
// (perf_event_open(2), PERF_FLAG_PID_CGROUP).
//
// Two counters on each CPU of the group, always on together: where the kernel takes turns between
// more counters than a processor has, both miss the same time, and what they say of each other
// holds. Counts are scaled up by that time. Thread promise: one owner. Invariant: a count that
// nobody could take is an error here, and never 0.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

// As the kernel names it (linux/perf_event.h).
struct PerfEvent {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
};
// Instructions, and accesses that miss the processor's last cache.
std::array<PerfEvent, 2> MemoryEvents();

class GroupCounters {
 public:
  // `cgroup` is a directory of the cgroup v2 tree, `cpus` those on which its processes run. An
  // error says what refuses: a virtual machine that hides the counters, or the lack of rights.
  static absl::StatusOr<GroupCounters> Open(const std::string& cgroup, const CpuSet& cpus,
                                            const std::array<PerfEvent, 2>& events);

  // Counted since it was opened.
  [[nodiscard]] absl::StatusOr<std::array<std::uint64_t, 2>> Read() const;

 private:
  struct OnCpu {
    UniqueFd leader;
    UniqueFd other;
  };

  explicit GroupCounters(std::vector<OnCpu> cpus) : cpus_(std::move(cpus)) {}

  std::vector<OnCpu> cpus_;
};

}  // namespace muster::agent

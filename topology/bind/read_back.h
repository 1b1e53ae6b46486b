#pragma once

// What a process is really bound to, as the kernel says after its exec, and whether that is what
// was planned.
//
// ReadBack asks the kernel for the threads it may run on, its memory policy and the devices in its
// environment; FromKernel turns what a child reported of itself before exec into the same form, for
// processes that end too soon to be asked. Compare is a pure function.

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/value/index_set.h"
#include "topology/bind/bind.h"

namespace muster::topology {

// One process as it was found. Absent: the kernel did not say.
struct ObservedBinding {
  std::optional<CpuSet> cpus;
  std::optional<std::string> mem_policy;         // "bind:0-1", "default"
  std::optional<std::vector<std::string>> gpus;  // those that its environment shows it
};

// One process as it was planned.
struct PlannedBinding {
  CpuSet cpus;                    // empty: not bound
  NumaSet mem_nodes;              // empty: not bound
  std::vector<std::string> gpus;  // UUIDs, in the order that it sees them
  bool enforced = true;
  std::string why_not_enforced;
  bool one_memory_node = false;  // the machine has no other: memory cannot be elsewhere
};

// Asks for its threads and reads /proc/PID/{numa_maps,environ}. NotFound when there is no such
// process; parts of a process that has ended or is just now in exec are absent.
absl::StatusOr<ObservedBinding> ReadBack(pid_t pid);

// The same from what the process reported of itself; `gpus` are what its environment was given.
ObservedBinding FromKernel(const KernelBinding& said, std::vector<std::string> gpus);

// The verdict and its text; sets cpus, mem_policy, gpus, verdict and text of the result only.
RankBinding Compare(const PlannedBinding& plan, const ObservedBinding& found);

// The memory policy in the first line of /proc/PID/numa_maps.
std::optional<std::string> PolicyOfNumaMaps(std::string_view maps);
// The GPUs that the variables of all vendors list in the text of /proc/PID/environ; nothing when
// the text is empty.
std::optional<std::vector<std::string>> GpusOfEnviron(std::string_view environ_text);

}  // namespace muster::topology

#pragma once

// How much memory jobs may use, from the three places that claim to know.
//
// The NUMA nodes' own totals read low where memory is brought online lazily (virtual machines);
// /proc/meminfo counts it all; a control group may allow less than either.
// Thread promise: reads files, changes only its argument.

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "scheduler/model/machine/machine.h"

namespace muster::topology {

struct MemoryReadings {
  std::optional<Bytes> total;  // MemTotal of /proc/meminfo without the pools of huge pages
  std::optional<Bytes> limit;  // the tightest limit of our control group and those above it
};

// MemTotal out of the content of /proc/meminfo, less what its pools of huge pages have taken
// (Hugetlb); nothing when it is not there.
std::optional<Bytes> ParseMemTotal(const std::string& meminfo);

// The tightest memory limit over the control groups named in `proc_cgroup` (the content of
// /proc/self/cgroup) and all above them, v2 and v1, mounted at `root`; nothing when none is set.
std::optional<Bytes> ReadMemoryLimit(const std::string& proc_cgroup, const std::string& root);

// Both readings of this process, as far as they can be had.
MemoryReadings ReadMemory();

// Sets `machine.memory`, and the NUMA nodes' shares in proportion to what they say, from the
// readings: MemTotal where it differs from the nodes' sum by more than 2 %, then the limit where it
// is lower. A remark says so.
void SettleMemory(const MemoryReadings& readings, Machine& machine);

}  // namespace muster::topology

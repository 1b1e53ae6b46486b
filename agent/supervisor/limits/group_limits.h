#pragma once

// What a control group is to be held to, as the files of cgroup v2 say it, written and read back.
//
// Thread promise: AttemptLimits, StepLimits, LimitFiles and Agrees are pure; HoldTo writes.
// Invariant: HoldTo says of a limit that it holds only when the kernel's own word for it was read
// and is what was written (memory in whole pages, cpus as far as the kernel gives them).

#include <cstdint>
#include <string>
#include <vector>

#include "agent/supervisor/attempt/limit_set.h"
#include "agent/supervisor/attempt/order_file.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/value/gres.h"
#include "scheduler/model/value/index_set.h"
#include "scheduler/model/value/units.h"

namespace muster::agent {

struct GroupLimits {
  CpuSet cpus;  // empty, or zero below: not limited
  NumaSet mem_nodes;
  Bytes memory;
  Bytes memory_high;  // where it is slowed and its pages are taken back
  std::uint64_t pids = 0;
  std::uint32_t io_weight = 0;
  GresList huge_pages = {};  // of each of the node's pools, also none of one
};

// An attempt's, from its part of the allocation on this node.
GroupLimits AttemptLimits(const NodeLimits& node, const NodeAllocation& part);
// A step's, inside: the cores of its ranks, and the memory that it asked for; of `whole`, the job's
// on this node, those share that asked for none.
GroupLimits StepLimits(const NodeAllocation& part, const NodeAllocation& whole);

// One file of a group.
struct LimitFile {
  std::string controller;
  std::string file;
  std::string value;
  std::string read;       // where the kernel says what holds
  bool optional = false;  // the kernel may have been built without it
};
std::vector<LimitFile> LimitFiles(const GroupLimits& limits);

// Whether what was read is what the file was to hold.
bool Agrees(const LimitFile& file, const std::string& read);

// Writes the limits into the group's directory, reads them back, and says which hold, with their
// values; what `promised` does not hold is not tried, and missing for its reason.
LimitSet HoldTo(const std::string& directory, const GroupLimits& limits, const LimitSet& promised);

}  // namespace muster::agent

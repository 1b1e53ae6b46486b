#pragma once

// Which device files a job may open, as rules and as the program that the kernel asks.
//
// Only GPUs are restricted: what no rule names keeps the host's rules. Pure. Invariant: the first
// rule that matches decides, in the rules as in the program.

#include <linux/bpf.h>

#include <cstdint>
#include <vector>

#include "agent/supervisor/attempt/limit_set.h"
#include "scheduler/model/machine/allocation.h"

namespace muster::agent {

// For character devices; block devices are left alone.
struct DeviceRule {
  std::uint32_t major = 0;
  std::uint32_t first_minor = 0;
  std::uint32_t last_minor = 0;
  bool allow = false;
  friend bool operator==(const DeviceRule&, const DeviceRule&) = default;
};

// For a job with these GPUs on a node with those devices.
std::vector<DeviceRule> DeviceRules(const std::vector<topology::DeviceNodes>& devices,
                                    const std::vector<GpuGrant>& gpus);

// A BPF_PROG_TYPE_CGROUP_DEVICE program that allows what no rule denies.
std::vector<bpf_insn> DeviceProgram(const std::vector<DeviceRule>& rules);

}  // namespace muster::agent

#pragma once

// Attaching a device program to a control group, by bpf(2).
//
// Two calls and a dozen instructions: libbpf, which loads object files, maps and types, would bring
// nothing to this. Invariant: an attached program lives as long as its group, not as the process
// that attached it.

#include <linux/bpf.h>

#include <vector>

#include "absl/status/status.h"

namespace muster::agent {

// Whether this process may load and the kernel takes such a program; the error says why not.
absl::Status CheckDeviceFilter();

// Has the kernel ask `program` for every device that a process in the group opens or makes. It
// stands beside what groups above say: all must allow.
absl::Status AttachDeviceFilter(int cgroup_directory, const std::vector<bpf_insn>& program);

}  // namespace muster::agent

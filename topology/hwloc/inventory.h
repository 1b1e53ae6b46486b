#pragma once

// Turns a loaded hwloc topology into the model's Machine: the one translator of hwloc's words.
//
// A core belongs to the NUMA node whose memory is ordinary and nearest; nodes of special memory
// (HBM, CXL, a GPU's) beside the same cores become memory-only nodes, as the kernel sees them.
// A thread without a core object is a core of its own.
// Thread promise: reads the topology and touches nothing else.
// Invariant: what comes out passes CheckMachine, except that GPUs are not filled in.

#include <optional>
#include <string>

#include "scheduler/model/machine/machine.h"
#include "topology/hwloc/hwloc_topology.h"

namespace muster::topology {

// Packages, their dies, NUMA nodes, L3 caches, cores, NICs and memory of `topology`; only the
// threads in `usable`, when given. InvalidArgument when an index is beyond what CpuSet holds.
absl::StatusOr<Machine> TakeInventory(const HwlocTopology& topology,
                                      const std::optional<CpuSet>& usable);

// What hwloc knows of `object` under `name`; empty: nothing.
std::string InfoOf(hwloc_obj_t object, const char* name);

// The position in `machine.numa_nodes` of the node nearest to the device `device`: the one with
// threads beside it, or the only one there is; kNowhere when several are equally near.
std::uint32_t NumaNear(hwloc_obj_t device, const Machine& machine);

// Fills in `numa` of every GPU that has none, by its PCI address; a remark for each that stays
// nowhere.
void LocateGpus(const HwlocTopology& topology, Machine& machine);

// "0000:3b:00.0" for the PCI device `device`.
std::string PciAddress(hwloc_obj_t device);

// The closest PCI device that holds the device `device`, or null.
hwloc_obj_t PciParent(hwloc_obj_t device);

}  // namespace muster::topology

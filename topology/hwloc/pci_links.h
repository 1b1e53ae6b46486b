#pragma once

// Which way two devices of a machine take to each other, read from hwloc's PCI tree and its
// NVLink matrix.
//
// Thread promise: reads the topology and changes only the machine's links.

#include "scheduler/model/machine/machine.h"
#include "topology/hwloc/hwloc_topology.h"

namespace muster::topology {

// Fills in gpu_links and nic_links: by the lowest common PCI bridge, as `nvidia-smi topo -m` names
// it (PIX: one PCIe switch, PXB: several, PHB: a host bridge), else by the NUMA nodes; an NVLink,
// direct or through NVSwitches, wins where hwloc's "NVLinkBandwidth" matrix has one, and XGMI where
// "XGMIBandwidth" does. REQUIRES: GPUs and NICs of `machine` are there, from this topology, and
// have their NUMA nodes.
void AddDeviceLinks(const HwlocTopology& topology, Machine& machine);

// By NUMA nodes alone, where the devices' ways through PCIe are not known: NODE on one, SYS between
// two, unknown where one says none (but for a machine that has only one).
LinkKind LinkByNuma(const Machine& machine, std::uint32_t a, std::uint32_t b);

}  // namespace muster::topology

#pragma once

// NCCL's topology XML (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE) as a machine.
//
// It tells NUMA nodes with their threads, the PCI tree, NVLinks and NICs, and nothing of cores,
// caches and memory. Invariants: a machine is returned whole or not at all; it has not been through
// CheckMachine yet.

#include <string>

#include "absl/status/statusor.h"
#include "scheduler/model/machine/machine.h"

namespace muster::topology {

// Each thread is a core, each NUMA node counts as 1 GiB; remarks say so. A GPU's number is its
// `dev`, else its place in the order of PCI addresses, which is nvidia-smi's. A NIC without a <net>
// is called by its PCI address. InvalidArgument "NAME:LINE: …" for what cannot be read: malformed
// XML, no <system>, a mask or count that is none, a NUMA node or PCI address that is there twice.
absl::StatusOr<Machine> ParseNcclXml(const std::string& text, const std::string& name);

}  // namespace muster::topology

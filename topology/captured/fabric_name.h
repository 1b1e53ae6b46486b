#pragma once

// Which network devices are OpenFabrics devices, where only their names are known.

#include <string>

namespace muster::topology {

// Whether a device of that name is one of libibverbs': a driver's own name ("mlx5_0", "hfi1_0") or
// what rdma-core's udev rules make of it ("rocep59s0", "rdmap0s6"; rdma_rename's manual). Names
// beginning in "ib" are also those of network interfaces and count as such.
bool IsFabricName(const std::string& name);

}  // namespace muster::topology

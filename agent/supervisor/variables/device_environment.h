#pragma once

// The variables by which a job's processes find the node's devices: the GPUs that they can see, and
// their NICs.
//
// All of a job's GPUs on the node are visible to all its ranks there, each rank's nearest being
// device LOCAL_RANK; a rank whose placement says so (--gpus-per-task, --gpu-bind) sees its own
// alone. Pure. Invariants: devices are named so that no other numbering can change them: GPUs by
// UUID, NICs by the name that UCX and NCCL use.

#include <string>
#include <vector>

#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/variables/network_variables.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/machine/machine.h"

namespace muster::agent {

// Positions in Machine::gpus in device order: the first GPU of each rank, their second ones, …,
// then what no rank has.
std::vector<std::uint32_t> DeviceOrder(const NodeAllocation& node);

// UUIDs of those positions; the device's number where the machine knows none that its runtime
// takes.
std::vector<std::string> GpuNames(const Machine& machine, const std::vector<std::uint32_t>& gpus);

// The GPUs that a process on the node sees, as its environment names them, in the order of
// the vendors. `rank`: null for the batch script.
std::vector<std::string> VisibleGpus(const SupervisorOrder& order, const NodeAllocation& node,
                                     const RankPlacement* rank);

// What shows a process its GPUs, such as CUDA_VISIBLE_DEVICES; for a share of a GPU what holds its
// users to it; and those of the network.
std::vector<DeviceVariable> DeviceVariables(const SupervisorOrder& order,
                                            const NodeAllocation& node, const RankPlacement* rank);

}  // namespace muster::agent

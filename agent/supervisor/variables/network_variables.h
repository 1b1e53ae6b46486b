#pragma once

// By which NICs the processes of a job speak to one another and to storage.
//
// The libraries' own variables: UCX_NET_DEVICES and UCX_IB_TRAFFIC_CLASS (UCX), NCCL_IB_HCA,
// NCCL_IB_TC and NCCL_SOCKET_IFNAME (NCCL), GLOO_SOCKET_IFNAME (Gloo). A rank's NIC is the one near
// it, unless [network.class.collectives] of the agent's file names others. For programs that copy:
// MUSTER_STAGING_NIC, MUSTER_STAGING_RATE (bytes a second), MUSTER_STAGING_DSCP, and the same of
// CHECKPOINT. Invariants:
// (1) all of them yield to the user's own; (2) all ranks of a node have the same NCCL_IB_HCA, for
// NCCL wants them to agree.

#include <string>
#include <vector>

#include "agent/supervisor/attempt/order_file.h"
#include "scheduler/model/machine/allocation.h"

namespace muster::agent {

struct DeviceVariable {
  std::string name;
  std::string value;
  bool yields = false;  // the user's own goes before it
};

// `rank`: null for the batch script.
void AddNetworkVariables(const SupervisorOrder& order, const NodeAllocation& node,
                         const RankPlacement* rank, std::vector<DeviceVariable>& variables);

}  // namespace muster::agent

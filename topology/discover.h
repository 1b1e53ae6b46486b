#pragma once

// Discovery of the machine that this process runs on.
//
// Only what this process may use is listed: threads that both its control group and its affinity
// allow, memory that its control group allows.
// Thread promise: call it from one thread, before others read the environment (see
// hwloc_topology.h).
// Invariant: what comes out passes CheckMachine.

#include "absl/status/statusor.h"
#include "scheduler/model/machine/machine.h"

namespace muster::topology {

// This machine, with source "live". GPUs by the vendors' libraries (topology/gpu/libraries.h); what
// could not be read or contradicts itself is in `remarks`.
absl::StatusOr<Machine> DiscoverMachine();

// The size of /tmp in whole GiB: what a file system says of itself changes a little with what it
// holds. 0 when it cannot be asked.
Bytes TmpSize();

}  // namespace muster::topology

#pragma once

// A trace on a cluster of nodes, under the very code that schedules live: core/handle, MakePlan.
//
// The loop is the controller's, with a clock that jumps from one instant to the next: all ends, all
// nodes that come back and that fail, arrivals in order of (submit, id), then cycles until a cycle
// has nothing to do. Agents answer at once. A node that fails loses its agent, boots again at once,
// which ends what ran there, and stays drained until it is repaired; jobs it had begin again, from
// their last checkpoint where they write any. Where checkpoints have a size, jobs share the file
// system's bandwidth, and the time that it costs them is not counted in their limits. Nothing is
// kept of a job that has ended. Thread promise: one thread; two simulations share nothing but the
// file. Invariants: the same trace and options give the same rows in the same order on every
// machine and build.

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/simulator/cluster/cluster_run.h"

namespace muster::sim {

// Rows: processors are numbered node by node, in the order of the nodes.
absl::StatusOr<ClusterResult> SimulateCluster(const ClusterRun& run, FlatObserver& observer);

// A machine of `cpus` cores with one thread each on one NUMA node, and GPUs that are joined two by
// two by NVLink. `memory` zero: as much as any job may ask for.
Machine PlainMachine(std::uint32_t cpus, std::uint32_t gpus, const std::string& gpu_model,
                     Bytes memory);

}  // namespace muster::sim

#pragma once

// How many tasks of a job a node has room for, in counts.
//
// The counting twin of core/place/placement: it says how many, that one says where. Invariants: on
// a machine whose cores are of one width PlaceOnNode places what RoomFor says.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/core/place/nodes/node_timeline.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/machine/gpu_occupant.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

// What a node has when nothing is taken of it, and how its cores and GPU models count.
struct NodeCapacity {
  FreeAmounts all;
  std::uint32_t threads_per_core = 1;
  std::uint32_t threads = 0;
  std::vector<std::uint32_t> socket_cores;         // on each
  bool uniform = true;                             // all cores have as many threads
  std::array<std::string, kGpuModels> gpu_models;  // empty: none at this position
  std::array<Bytes, kGpuModels> gpu_memory = {};   // of each, which are of another model by that
  std::array<bool, kGpuModels> gpu_by_name = {};   // as Gpu has it
  std::array<std::string, kGresKinds> gres = {};   // the names, sorted; empty: none
  // GPUs that others use outside of jobs, ascending: the last position is theirs, whatever their
  // model; what is there is for jobs that take such a GPU.
  std::vector<std::uint32_t> occupied = {};
  friend bool operator==(const NodeCapacity&, const NodeCapacity&) = default;
};

NodeCapacity CapacityOf(const Machine& machine, const GpuOccupants& occupants = {});
// The position of the machine's GPU among the node's GPU models. REQUIRES: it has the GPU.
std::size_t GpuModelOf(const NodeCapacity& capacity, const Machine& machine, std::uint32_t gpu);
// What is free now. Taken threads are whole cores.
FreeAmounts FreeNow(const NodeSnapshot& node, const NodeCapacity& capacity);

// When a job with the holding is taken to end: by its limit; a little later than now when that is
// past; at kHorizon without one.
Time EndOf(const Holding& holding, Time now);
// What the holding is of the node.
FreeAmounts AmountsOf(const Holding& holding, const Machine& machine, const NodeCapacity& capacity);

// When a node that is off can be had: later than now. A boot that is late is taken to last as long
// again as it is late. REQUIRES: it is off.
Time ReadyAt(const NodeSnapshot& node, Time now);

// What is free of the node from now on, as its jobs reach their limits. A job past its limit is
// taken to end a little later than now.
NodeTimeline TimelineOf(const NodeSnapshot& node, const NodeCapacity& capacity, Time now);

// What a job takes on a node of this capacity: `fixed` once, `each` for every task.
struct DemandScale {
  NodeDemand fixed;
  NodeDemand each;
  bool whole_node = false;          // only an untouched node will do, and all of it is taken
  std::uint32_t together = 1;       // tasks come in groups of that many
  std::uint32_t most = UINT32_MAX;  // tasks on one node
  std::uint32_t sharers = 1;        // tasks that have a GPU of `each` together
};

// Shares of GPUs are counted as such, or, `whole_gpus`, as the GPUs that they fill: where those in
// use will lie is unknown, so each fills whole ones. REQUIRES: a normalised request.
DemandScale ScaleOf(const NodeCapacity& capacity, const ResourceRequest& request,
                    bool whole_gpus = false);
NodeDemand DemandOf(const NodeCapacity& capacity, const DemandScale& scale, std::uint32_t tasks);
// The most tasks, up to `limit`, that these amounts hold.
std::uint32_t RoomFor(const FreeAmounts& free, const NodeCapacity& capacity,
                      const DemandScale& scale, std::uint32_t limit);

}  // namespace muster::core

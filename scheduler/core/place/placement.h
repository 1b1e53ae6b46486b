#pragma once

// Placement inside one node: which cores, memory nodes and GPUs each task gets.
//
// A task gets whole cores of its own, all in one NUMA node where one has room, and the GPUs it asks
// for beside them. Used by the planner's span across nodes; knows nothing of other nodes. Thread
// promise: pure. Invariants: (1) what it grants is free in the picture it was given; (2) the same
// picture and request give the same answer; (3) ranks are numbered from 0 here, the span numbers
// them over the job.

#include <cstdint>

#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster {

struct Placed {
  std::uint32_t tasks = 0;  // how many were placed; 0 leaves `allocation` empty
  NodeAllocation allocation;
};

// Places as many of the job's tasks as fit on the node as it is, at most `limit`. Whether the node
// is up or drained is the caller's question.
Placed PlaceOnNode(const NodePicture& node, const ResourceRequest& request, std::uint32_t limit);

// Adds what was placed on one more node, its ranks numbered after those before. False, with nothing
// added, when it is fewer tasks than `tasks`.
bool AddPlaced(Placed placed, std::uint32_t tasks, Allocation& allocation);

// The most tasks of the job that one node may get.
inline std::uint32_t MostTasksOnNode(const ResourceRequest& request) {
  return request.tasks_per_node > 0 ? request.tasks_per_node : request.tasks;
}
// Hardware threads of a core of this width that a task counts as its own (--threads-per-core).
inline std::uint32_t CountedThreads(const ResourceRequest& request, std::uint32_t width) {
  const std::uint32_t most = request.layout.has_value() ? request.layout->threads_per_core : 0;
  return most > 0 && most < width ? most : width;
}
// The socket of a core; where the machine knows none, its NUMA node.
inline std::uint32_t SocketOf(const Core& core) {
  return core.package != kNowhere ? core.package : core.numa;
}
// Cores that no job holds.
std::uint32_t FreeCores(const NodePicture& node);
// Which GPUs a normalised request asks for: those of each task, or of each node.
inline const GpuRequest& GpuKind(const ResourceRequest& request) {
  return request.gpus_per_task.count > 0 ? request.gpus_per_task : request.gpus_per_node;
}
// Cores that one task takes on this machine.
std::uint32_t CoresPerTask(const Machine& machine, const ResourceRequest& request);
// Memory that the job takes on the node for `tasks` tasks holding `cpus` hardware threads. What a
// job that says nothing gets: the share of the node's memory that its threads are of the node's.
Bytes MemoryOnNode(const Machine& machine, const ResourceRequest& request, std::uint32_t tasks,
                   std::uint32_t cpus);
// GPUs of the type that no job holds any share of.
std::uint32_t FreeGpus(const NodePicture& node, const GpuRequest& request);
// The GPUs that `tasks` tasks need on one node.
std::uint32_t GpusOnNode(const ResourceRequest& request, std::uint32_t tasks);
// True when the model is of the requested type: the type is part of its name, whatever the case.
bool IsOfType(const Gpu& gpu, const std::string& type);
bool IsOfType(const std::string& model, const std::string& type);

}  // namespace muster

#pragma once

// What a request means on a machine: cores, threads, memory and GPUs of its tasks on one node, and
// what of them is free there.
//
// One definition for who places tasks, who counts room and who says why there is none. Invariants:
// (1) amounts saturate and never wrap; (2) the same request and machine give the same answer.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

// GPUs over the whole request become GPUs per task where they divide, else GPUs of one node.
// REQUIRES: its tasks and nodes are filled in.
absl::Status FillGpus(ResourceRequest& request);

// Whether the nodes are to lie in segments: that many each, below one leaf switch or in one block.
inline bool IsInSegments(const ResourceRequest& request) {
  return request.segment > 1;
}
// The most tasks of the job that one node may get.
inline std::uint32_t MostTasksOnNode(const ResourceRequest& request) {
  return request.tasks_per_node > 0 ? request.tasks_per_node : request.tasks;
}
// Tasks that stay on one node together, where a node has room for them: with hybrid sharding the
// ranks that share one copy of the weights, else, or where that is too many, a tensor-parallel
// group. The larger first.
inline std::array<std::uint32_t, 2> TasksTogether(const ResourceRequest& request) {
  if (!request.layout.has_value()) {
    return {1, 1};
  }
  const ParallelGroups& groups = request.layout->parallel;
  const std::uint32_t copy =
      groups.shard > 1 ? groups.tensor * std::max(groups.context, 1U) * ReplicasTogether(groups)
                       : groups.tensor;
  return {copy, groups.tensor};
}
// Which GPUs a normalised request asks for: those of each task, or of each node.
inline const GpuRequest& GpuKind(const ResourceRequest& request) {
  return request.gpus_per_task.count > 0 ? request.gpus_per_task : request.gpus_per_node;
}
// The GPUs that `tasks` tasks need on one node.
std::uint32_t GpusOnNode(const ResourceRequest& request, std::uint32_t tasks);
// Whether a GPU of that model and memory will do: the type is part of the model's name, whatever
// the case, and its memory is no smaller. A GPU shows up to a sixteenth less than it is sold
// with, which its driver and its error correction take, so a fifteenth may be missing. `by_name`:
// an instance for those alone who name its profile.
bool IsOfKind(const std::string& model, Bytes memory, const GpuRequest& kind, bool by_name = false);
bool IsOfKind(const Gpu& gpu, const GpuRequest& kind);

// The socket of a core; where the machine knows none, its NUMA node.
inline std::uint32_t SocketOf(const Core& core) {
  return core.package != kNowhere ? core.package : core.numa;
}
// Hardware threads of a core of this width that a task counts as its own (--threads-per-core).
inline std::uint32_t CountedThreads(const ResourceRequest& request, std::uint32_t width) {
  const std::uint32_t most = request.layout.has_value() ? request.layout->threads_per_core : 0;
  return most > 0 && most < width ? most : width;
}
// Cores that one task takes on this machine.
std::uint32_t CoresPerTask(const Machine& machine, const ResourceRequest& request);
// Hardware threads that one task takes with its whole cores.
std::uint64_t ThreadsPerTask(const Machine& machine, const ResourceRequest& request);
// Memory that the job takes on the node for `tasks` tasks holding `cpus` hardware threads. What a
// job that says nothing gets: the share of the node's memory that its threads are of the node's.
Bytes MemoryOnNode(const Machine& machine, const ResourceRequest& request, std::uint32_t tasks,
                   std::uint32_t cpus);

// Cores that no job holds.
std::uint32_t FreeCores(const NodeSnapshot& node);
// What is left of one of the node's GPUs.
GpuShare FreeShare(const NodeSnapshot& node, std::size_t gpu);
// The most that one GPU of the type has left.
GpuShare MostFreeShare(const NodeSnapshot& node, const GpuRequest& request);
// Whether the countable things that the request asks of each node are free on this one.
bool HasGresFree(const NodeSnapshot& node, const ResourceRequest& request);
// Whether some GPU of the node is used outside of jobs, and so kept from the request.
inline bool HidesGpus(const NodeSnapshot& node, const ResourceRequest& request) {
  return !node.gpu_occupants.empty() && !request.gpu_occupied;
}
// The node with those GPUs taken.
NodeSnapshot WithoutOccupied(NodeSnapshot node);
// GPUs of the type that no job holds any share of.
std::uint32_t FreeGpus(const NodeSnapshot& node, const GpuRequest& request);

// What the request asks of a node that the machine cannot be: "CPU 96 of --cpu-bind", "4 sockets";
// empty when it asks nothing such.
std::string WhyNoMachine(const ResourceRequest& request, const Machine& machine);

}  // namespace muster::core

#include "scheduler/core/place/nodes/task_capacity.h"

#include <algorithm>
#include <map>

#include "scheduler/core/place/request.h"

namespace muster::core {
namespace {

// How long a job past its limit is given before it is looked for again.
constexpr Duration kOverrun = std::chrono::seconds(30);

std::uint64_t SaturatingProduct(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

std::uint32_t Clamp(std::uint64_t count) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, UINT32_MAX));
}

std::uint32_t CoresPerTask(const NodeCapacity& capacity, const ResourceRequest& request) {
  const std::uint64_t threads = CountedThreads(request, capacity.threads_per_core);
  return static_cast<std::uint32_t>((request.cpus_per_task + threads - 1) / threads);
}

// The share of the node's memory that `threads` are of all.
std::uint64_t MemoryShare(const NodeCapacity& capacity, std::uint64_t threads) {
  const std::uint64_t all = std::max(capacity.threads, 1U);
  return capacity.all.memory.value() / all * std::min(threads, all);
}

// --ntasks-per-socket: the tasks that the sockets may have. Those that are wider than every socket
// lie over several, as many as there were sockets for.
std::uint32_t MostApart(const NodeCapacity& capacity, const ResourceRequest& request) {
  const std::uint32_t each = request.layout->tasks_per_socket;
  const std::uint32_t cores = std::max(CoresPerTask(capacity, request), 1U);
  std::uint64_t most = 0;
  for (const std::uint32_t on_socket : capacity.socket_cores) {
    most += std::min(each, on_socket / cores);
  }
  return Clamp(most > 0 ? most : std::uint64_t{each} * capacity.socket_cores.size());
}

constexpr std::size_t kOccupied = kGpuModels - 1;

std::uint32_t GpuMask(const NodeCapacity& capacity, const ResourceRequest& request) {
  const GpuRequest& kind = GpuKind(request);
  const bool all = capacity.occupied.empty() || request.gpu_occupied;
  std::uint32_t mask = 0;
  for (std::size_t i = 0; i < (all ? kGpuModels : kOccupied); ++i) {
    if (!capacity.gpu_models[i].empty() &&
        IsOfKind(capacity.gpu_models[i], capacity.gpu_memory[i], kind, capacity.gpu_by_name[i])) {
      mask |= 1U << i;
    }
  }
  return mask;
}

bool IsModelAt(const NodeCapacity& capacity, std::size_t at, const Gpu& gpu) {
  return capacity.gpu_models[at] == gpu.model && capacity.gpu_memory[at] == gpu.memory &&
         capacity.gpu_by_name[at] == gpu.by_name;
}

// A count in the node's own order; more than 32 bits hold is as good as all.
GresAmounts GresOf(const NodeCapacity& capacity, const GresList& list) {
  GresAmounts amounts{};
  for (std::size_t i = 0; i < kGresKinds && !capacity.gres[i].empty(); ++i) {
    amounts[i] = Clamp(CountOf(list, capacity.gres[i]));
  }
  return amounts;
}

}  // namespace

NodeCapacity CapacityOf(const Machine& machine, const GpuOccupants& occupants) {
  NodeCapacity capacity;
  capacity.all.cores = static_cast<std::uint32_t>(machine.cores.size());
  capacity.all.memory = machine.memory;
  capacity.threads_per_core =
      machine.cores.empty() ? 1 : std::max(machine.cores.front().cpus.Count(), 1U);
  std::map<std::uint32_t, std::uint32_t> sockets;
  for (const Core& core : machine.cores) {
    ++sockets[SocketOf(core)];
    capacity.threads += core.cpus.Count();
    capacity.uniform = capacity.uniform && core.cpus.Count() == capacity.threads_per_core;
  }
  for (const auto& [socket, cores] : sockets) {
    capacity.socket_cores.push_back(cores);
  }
  for (std::uint32_t i = 0; i < machine.gpus.size(); ++i) {
    const Gpu& gpu = machine.gpus[i];
    std::size_t at = 0;
    if (IsOccupied(occupants, i)) {
      capacity.occupied.push_back(i);
      at = kOccupied;
    }
    while (at + 1 < kGpuModels && !capacity.gpu_models[at].empty() &&
           !IsModelAt(capacity, at, gpu)) {
      ++at;
    }
    if (capacity.gpu_models[at].empty()) {
      capacity.gpu_models[at] = gpu.model.empty() ? "gpu" : gpu.model;
      capacity.gpu_memory[at] = gpu.memory;
      capacity.gpu_by_name[at] = gpu.by_name;
    }
    ++capacity.all.gpus[at];
    capacity.all.shares[at] += kWholeGpu.value();
  }
  for (std::size_t i = 0; i < std::min(kGresKinds, machine.gres.size()); ++i) {
    capacity.gres[i] = machine.gres[i].name;
  }
  capacity.all.gres = GresOf(capacity, machine.gres);
  return capacity;
}

std::size_t GpuModelOf(const NodeCapacity& capacity, const Machine& machine, std::uint32_t gpu) {
  if (std::binary_search(capacity.occupied.begin(), capacity.occupied.end(), gpu)) {
    return kOccupied;
  }
  for (std::size_t i = 0; i + 1 < kGpuModels; ++i) {
    if (IsModelAt(capacity, i, machine.gpus[gpu]) || capacity.gpu_models[i + 1].empty()) {
      return i;
    }
  }
  return kGpuModels - 1;
}

FreeAmounts FreeNow(const NodeSnapshot& node, const NodeCapacity& capacity) {
  FreeAmounts free = capacity.all;
  const std::uint32_t taken = node.taken.cpus.Count();
  if (taken > 0) {
    free.cores = capacity.uniform
                     ? free.cores - std::min(free.cores, taken / capacity.threads_per_core)
                     : FreeCores(node);
  }
  free.memory -= std::min(node.taken.memory, free.memory);
  if (!node.taken.gres.empty()) {
    const GresAmounts gone = GresOf(capacity, node.taken.gres);
    for (std::size_t i = 0; i < kGresKinds; ++i) {
      free.gres[i] -= std::min(gone[i], free.gres[i]);
    }
  }
  for (std::uint32_t i = 0; i < node.taken.gpus.size() && i < node.machine->gpus.size(); ++i) {
    if (!node.taken.gpus[i].zero()) {
      const std::size_t model = GpuModelOf(capacity, *node.machine, i);
      --free.gpus[model];
      free.shares[model] -= std::min(node.taken.gpus[i], kWholeGpu).value();
    }
  }
  return free;
}

Time EndOf(const Holding& holding, Time now) {
  if (holding.ends == kNoTime) {
    return kHorizon;
  }
  return holding.ends > now ? holding.ends : now + kOverrun;
}

FreeAmounts AmountsOf(const Holding& holding, const Machine& machine,
                      const NodeCapacity& capacity) {
  FreeAmounts amounts;
  amounts.cores = holding.cpus.Count() / capacity.threads_per_core;
  amounts.memory = holding.memory;
  amounts.gres = GresOf(capacity, holding.gres);
  for (const GpuGrant& grant : holding.gpus) {
    if (grant.gpu < machine.gpus.size()) {
      const std::size_t model = GpuModelOf(capacity, machine, grant.gpu);
      amounts.gpus[model] =
          static_cast<std::uint16_t>(amounts.gpus[model] + (grant.share == kWholeGpu ? 1 : 0));
      amounts.shares[model] += grant.share.value();
    }
  }
  return amounts;
}

Time ReadyAt(const NodeSnapshot& node, Time now) {
  constexpr Duration kLeast = std::chrono::seconds(1);
  return node.ready > now ? node.ready : now + std::max(kLeast, now - node.ready);
}

NodeTimeline TimelineOf(const NodeSnapshot& node, const NodeCapacity& capacity, Time now) {
  NodeTimeline timeline(FreeNow(node, capacity), now);
  std::map<std::uint32_t, Time> gpus;  // when the last holder of each ends
  for (const Holding& holding : node.holdings) {
    const Time ends = EndOf(holding, now);
    FreeAmounts amounts = AmountsOf(holding, *node.machine, capacity);
    amounts.gpus = {};  // of which several jobs may have a share
    timeline.Release(ends, amounts, capacity.all);
    for (const GpuGrant& grant : holding.gpus) {
      if (grant.gpu >= node.machine->gpus.size()) {
        continue;  // the machine came back smaller
      }
      gpus[grant.gpu] = std::max(gpus[grant.gpu], ends);
    }
  }
  for (const auto& [gpu, ends] : gpus) {
    FreeAmounts amounts;
    amounts.gpus[GpuModelOf(capacity, *node.machine, gpu)] = 1;
    timeline.Release(ends, amounts, capacity.all);
  }
  if (node.ready != kNoTime) {
    timeline.Release(ReadyAt(node, now), capacity.all, capacity.all);
  }
  timeline.Release(kHorizon, capacity.all, capacity.all);  // what nobody here accounts for
  return timeline;
}

DemandScale ScaleOf(const NodeCapacity& capacity, const ResourceRequest& request, bool whole_gpus) {
  DemandScale scale;
  scale.whole_node = request.exclusive;
  scale.fixed.alone = request.exclusive_user;
  if (request.layout.has_value() && request.layout->tasks_per_socket > 0) {
    scale.most = MostApart(capacity, request);
  }
  if (request.exclusive && !request.gpu_occupied && !capacity.occupied.empty()) {
    scale.most = 0;  // it would have all GPUs
  }
  const std::uint32_t cores = CoresPerTask(capacity, request);
  NodeDemand& cores_go_to = request.overcommit ? scale.fixed : scale.each;
  cores_go_to.cores = cores;
  if (request.gpu_share.zero() || whole_gpus) {
    scale.sharers =
        request.gpu_share.zero() ? 1 : std::max(kWholeGpu.value() / request.gpu_share.value(), 1U);
    scale.fixed.gpus = request.gpus_per_node.count;
    scale.each.gpus = request.gpus_per_task.count;
  } else {
    scale.fixed.shares = request.gpus_per_node.count * request.gpu_share.value();
    scale.each.shares = request.gpus_per_task.count * request.gpu_share.value();
  }
  if (request.gpus_per_node.count + request.gpus_per_task.count > 0) {
    scale.fixed.gpu_models = GpuMask(capacity, request);
  }
  if (!request.memory_per_node.zero()) {
    scale.fixed.memory = request.memory_per_node;
  } else if (!request.memory_per_cpu.zero()) {
    scale.each.memory =
        Bytes(SaturatingProduct(request.memory_per_cpu.value(), request.cpus_per_task));
  } else {
    cores_go_to.memory =
        Bytes(MemoryShare(capacity, std::uint64_t{cores} * capacity.threads_per_core));
  }
  scale.fixed.gres = GresOf(capacity, request.gres);
  for (const GresCount& gres : request.gres) {
    if (std::find(capacity.gres.begin(), capacity.gres.end(), gres.name) == capacity.gres.end()) {
      scale.most = 0;  // the node has none of it
    }
  }
  // A group that not even an untouched node holds lies on several.
  for (const std::uint32_t together : TasksTogether(request)) {
    if (RoomFor(capacity.all, capacity, scale, together) == together) {
      scale.together = together;
      break;
    }
  }
  return scale;
}

NodeDemand DemandOf(const NodeCapacity& capacity, const DemandScale& scale, std::uint32_t tasks) {
  NodeDemand demand;
  demand.user = scale.fixed.user;
  demand.alone = scale.fixed.alone;
  if (scale.whole_node) {
    demand.cores = capacity.all.cores;
    demand.memory = capacity.all.memory;
    demand.gpu_models = ~0U;
    demand.gpus = CountGpus(capacity.all, demand.gpu_models);
    demand.gres = capacity.all.gres;
    return demand;
  }
  demand.cores = Clamp(scale.fixed.cores + std::uint64_t{scale.each.cores} * tasks);
  demand.gpus = Clamp(scale.fixed.gpus +
                      (std::uint64_t{scale.each.gpus} * tasks + scale.sharers - 1) / scale.sharers);
  demand.shares = Clamp(scale.fixed.shares + std::uint64_t{scale.each.shares} * tasks);
  demand.gpu_models = scale.fixed.gpu_models;
  demand.gres = scale.fixed.gres;
  const std::uint64_t memory = SaturatingProduct(scale.each.memory.value(), tasks);
  demand.memory =
      Bytes(memory > UINT64_MAX - scale.fixed.memory.value() ? UINT64_MAX
                                                             : memory + scale.fixed.memory.value());
  return demand;
}

std::uint32_t RoomFor(const FreeAmounts& free, const NodeCapacity& capacity,
                      const DemandScale& scale, std::uint32_t limit) {
  if (scale.whole_node && free != capacity.all) {
    return 0;
  }
  if (!Holds(free, scale.fixed)) {
    return 0;
  }
  std::uint64_t room = std::min(limit, scale.most);
  if (scale.each.cores > 0) {
    room = std::min<std::uint64_t>(room, (free.cores - scale.fixed.cores) / scale.each.cores);
  } else if (free.cores < std::max(scale.fixed.cores, 1U)) {
    return 0;
  }
  if (scale.each.gpus > 0) {
    room = std::min<std::uint64_t>(
        room, std::uint64_t{CountGpus(free, scale.fixed.gpu_models) - scale.fixed.gpus} *
                  scale.sharers / scale.each.gpus);
  }
  if (scale.each.shares > 0) {
    room = std::min<std::uint64_t>(
        room, (CountShares(free, scale.fixed.gpu_models) - scale.fixed.shares) / scale.each.shares);
    const std::uint32_t on_one = std::max(kWholeGpu.value() / scale.each.shares, 1U);
    room = std::min<std::uint64_t>(
        room, std::uint64_t{CountGpus(capacity.all, scale.fixed.gpu_models)} * on_one);
  }
  if (!scale.each.memory.zero()) {
    room = std::min(room, (free.memory - scale.fixed.memory).value() / scale.each.memory.value());
  }
  return static_cast<std::uint32_t>(room - room % scale.together);
}

}  // namespace muster::core

#include "scheduler/core/placement.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster {
namespace {

const GpuRequest& GpuKind(const ResourceRequest& request) {
  return request.gpus_per_task.count > 0 ? request.gpus_per_task : request.gpus_per_node;
}

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool IsGpuFree(const NodePicture& node, std::size_t gpu) {
  return gpu >= node.taken.gpus.size() || node.taken.gpus[gpu].zero();
}

std::uint64_t SaturatingProduct(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

std::uint32_t ThreadsPerCore(const Machine& machine) {
  return machine.cores.empty() ? 1 : std::max(machine.cores.front().cpus.Count(), 1U);
}

// Hardware threads that one task takes with its whole cores.
std::uint64_t ThreadsPerTask(const Machine& machine, const ResourceRequest& request) {
  return std::uint64_t{CoresPerTask(machine, request)} * ThreadsPerCore(machine);
}

// A job that says nothing gets the share of the memory that its threads are of the node's.
std::uint64_t MemoryShare(const Machine& machine, std::uint64_t threads) {
  const std::uint64_t all = std::max(AllCpus(machine).Count(), 1U);
  return machine.memory.value() / all * std::min(threads, all);
}

// What is free in one NUMA node (or, last, in none).
struct Domain {
  std::vector<std::uint32_t> cores;  // positions, by (L3, position)
  std::vector<std::uint32_t> gpus;   // positions
};

// The choice of places on one node, task by task.
class NodePlacer {
 public:
  NodePlacer(const NodePicture& node, const ResourceRequest& request)
      : node_(node), machine_(*node.machine), request_(request) {
    domains_.resize(machine_.numa_nodes.size() + 1);
    CollectCores();
    CollectGpus();
  }

  Placed Place(std::uint32_t limit) {
    Placed placed;
    if (request_.exclusive && !IsIdle()) {
      return placed;
    }
    limit = std::min(limit, MemoryLimit());
    if (!TakeNodeGpus()) {
      return placed;
    }
    while (placed.tasks < limit && PlaceNext(limit - placed.tasks, placed)) {
    }
    if (placed.tasks > 0) {
      Finish(placed);
    }
    return placed;
  }

 private:
  [[nodiscard]] bool IsIdle() const {
    return node_.taken.cpus.Empty() && node_.taken.memory.zero() &&
           std::all_of(node_.taken.gpus.begin(), node_.taken.gpus.end(),
                       [](GpuShare share) { return share.zero(); });
  }

  void CollectCores() {
    for (std::uint32_t i = 0; i < machine_.cores.size(); ++i) {
      const Core& core = machine_.cores[i];
      if (!node_.taken.cpus.Meets(core.cpus)) {
        DomainOf(core.numa).cores.push_back(i);
      }
    }
    for (Domain& domain : domains_) {
      std::stable_sort(domain.cores.begin(), domain.cores.end(),
                       [this](std::uint32_t a, std::uint32_t b) {
                         return machine_.cores[a].l3 < machine_.cores[b].l3;
                       });
    }
  }

  void CollectGpus() {
    for (std::uint32_t i = 0; i < machine_.gpus.size(); ++i) {
      if (IsGpuFree(node_, i) && IsOfType(machine_.gpus[i], GpuKind(request_).type)) {
        DomainOf(machine_.gpus[i].numa).gpus.push_back(i);
      }
    }
    // On a machine with one NUMA node, a GPU that says none is there.
    if (machine_.numa_nodes.size() == 1) {
      auto& nowhere = domains_.back().gpus;
      domains_.front().gpus.insert(domains_.front().gpus.end(), nowhere.begin(), nowhere.end());
      nowhere.clear();
    }
  }

  Domain& DomainOf(std::uint32_t numa) {
    return domains_[std::min<std::size_t>(numa, domains_.size() - 1)];
  }

  // How many tasks the node's free memory allows.
  [[nodiscard]] std::uint32_t MemoryLimit() const {
    const Bytes free = node_.machine->memory - std::min(node_.taken.memory, machine_.memory);
    if (!request_.memory_per_node.zero()) {
      return request_.memory_per_node <= free ? UINT32_MAX : 0;
    }
    std::uint64_t per_task =
        SaturatingProduct(request_.memory_per_cpu.value(), request_.cpus_per_task);
    if (request_.memory_per_cpu.zero()) {
      per_task = MemoryShare(machine_, ThreadsPerTask(machine_, request_));
      if (request_.overcommit) {  // all tasks share the threads, and the memory, of one
        return per_task <= free.value() ? UINT32_MAX : 0;
      }
    }
    return per_task == 0 ? UINT32_MAX
                         : static_cast<std::uint32_t>(
                               std::min<std::uint64_t>(free.value() / per_task, UINT32_MAX));
  }

  // --gpus-per-node: all of them at once, from as few NUMA nodes as hold them, the fullest last.
  bool TakeNodeGpus() {
    std::uint32_t needed = request_.gpus_per_node.count;
    while (needed > 0) {
      Domain* best = nullptr;
      for (Domain& domain : domains_) {
        const bool fits = domain.gpus.size() >= needed;
        if (domain.gpus.empty()) {
          continue;
        }
        if (best == nullptr ||
            (fits && (best->gpus.size() < needed || domain.gpus.size() < best->gpus.size())) ||
            (!fits && best->gpus.size() < needed && domain.gpus.size() > best->gpus.size())) {
          best = &domain;
        }
      }
      if (best == nullptr) {
        return false;
      }
      preferred_ =
          preferred_.has_value()
              ? preferred_
              : std::optional<std::size_t>(static_cast<std::size_t>(best - domains_.data()));
      const std::size_t take = std::min<std::size_t>(needed, best->gpus.size());
      node_gpus_.insert(node_gpus_.end(), best->gpus.begin(),
                        best->gpus.begin() + static_cast<std::ptrdiff_t>(take));
      best->gpus.erase(best->gpus.begin(), best->gpus.begin() + static_cast<std::ptrdiff_t>(take));
      needed -= static_cast<std::uint32_t>(take);
    }
    return true;
  }

  // Tasks that fit into one domain with what is left in it.
  [[nodiscard]] std::uint32_t Capacity(const Domain& domain) const {
    std::uint32_t tasks = 0;
    std::uint32_t cpus = 0;
    for (std::uint32_t core : domain.cores) {
      cpus += machine_.cores[core].cpus.Count();
      if (cpus >= request_.cpus_per_task) {
        ++tasks;
        cpus = 0;
      }
    }
    const std::uint32_t gpus = request_.gpus_per_task.count;
    return gpus == 0 ? tasks
                     : std::min(tasks, static_cast<std::uint32_t>(domain.gpus.size()) / gpus);
  }

  // The domain for the next tasks: the tightest that takes all `remaining`, else the roomiest.
  [[nodiscard]] std::optional<std::size_t> ChooseDomain(std::uint32_t remaining) const {
    std::optional<std::size_t> best;
    std::uint32_t best_capacity = 0;
    for (std::size_t i = 0; i < domains_.size(); ++i) {
      const std::uint32_t capacity = Capacity(domains_[i]);
      if (capacity == 0) {
        continue;
      }
      if (preferred_ == i && capacity >= remaining) {
        return i;
      }
      const bool best_fits = best.has_value() && best_capacity >= remaining;
      const bool better = !best.has_value() ||
                          (capacity >= remaining && (!best_fits || capacity < best_capacity)) ||
                          (capacity < remaining && !best_fits && capacity > best_capacity);
      if (better) {
        best = i;
        best_capacity = capacity;
      }
    }
    return best;
  }

  // Places one task or, in a chosen domain, as many as it takes. False when none fits any more.
  bool PlaceNext(std::uint32_t remaining, Placed& placed) {
    if (request_.overcommit && placed.tasks > 0) {
      for (std::uint32_t i = 0; i < remaining; ++i) {
        if (GpusLeft() < request_.gpus_per_task.count) {
          return false;
        }
        RankPlacement rank = placed.allocation.ranks.front();
        rank.rank = placed.tasks++;
        rank.gpus = TakeGpus(std::nullopt);
        placed.allocation.ranks.push_back(std::move(rank));
      }
      return true;
    }
    const std::optional<std::size_t> domain = ChooseDomain(request_.overcommit ? 1 : remaining);
    const std::uint32_t tasks = !domain.has_value() || request_.overcommit
                                    ? 1
                                    : std::min(remaining, Capacity(domains_[*domain]));
    for (std::uint32_t i = 0; i < tasks; ++i) {
      if (!PlaceTask(domain, placed)) {
        return false;
      }
    }
    return true;
  }

  bool PlaceTask(std::optional<std::size_t> domain, Placed& placed) {
    if (!HasRoom(domain)) {
      return false;
    }
    RankPlacement rank;
    rank.rank = placed.tasks;
    for (std::uint32_t core : TakeCores(domain)) {
      rank.cpus |= machine_.cores[core].cpus;
      AddMemoryNode(machine_.cores[core].numa, rank.mem_nodes);
    }
    if (rank.mem_nodes.Empty()) {
      rank.mem_nodes = AllMemoryNodes();
    }
    rank.gpus = TakeGpus(domain);
    placed.allocation.ranks.push_back(std::move(rank));
    ++placed.tasks;
    return true;
  }

  [[nodiscard]] std::size_t GpusLeft() const {
    std::size_t gpus = 0;
    for (const Domain& domain : domains_) {
      gpus += domain.gpus.size();
    }
    return gpus;
  }

  [[nodiscard]] bool HasRoom(std::optional<std::size_t> only) const {
    std::uint32_t cpus = 0;
    std::size_t gpus = 0;
    for (std::size_t i = 0; i < domains_.size(); ++i) {
      if (only.has_value() && *only != i) {
        continue;
      }
      for (std::uint32_t core : domains_[i].cores) {
        cpus += machine_.cores[core].cpus.Count();
      }
      gpus += domains_[i].gpus.size();
    }
    return cpus >= request_.cpus_per_task && gpus >= request_.gpus_per_task.count;
  }

  // Takes the first cores of the domain (of any, in order, when none is named) for one task.
  std::vector<std::uint32_t> TakeCores(std::optional<std::size_t> only) {
    std::vector<std::uint32_t> taken;
    std::uint32_t cpus = 0;
    for (std::size_t i = 0; i < domains_.size() && cpus < request_.cpus_per_task; ++i) {
      if (only.has_value() && *only != i) {
        continue;
      }
      std::vector<std::uint32_t>& cores = domains_[i].cores;
      std::size_t used = 0;
      while (used < cores.size() && cpus < request_.cpus_per_task) {
        cpus += machine_.cores[cores[used]].cpus.Count();
        taken.push_back(cores[used++]);
      }
      cores.erase(cores.begin(), cores.begin() + static_cast<std::ptrdiff_t>(used));
    }
    return taken;
  }

  std::vector<std::uint32_t> TakeGpus(std::optional<std::size_t> only) {
    std::vector<std::uint32_t> taken;
    for (std::size_t i = 0; i < domains_.size(); ++i) {
      if (only.has_value() && *only != i) {
        continue;
      }
      std::vector<std::uint32_t>& gpus = domains_[i].gpus;
      while (!gpus.empty() && taken.size() < request_.gpus_per_task.count) {
        taken.push_back(gpus.front());
        gpus.erase(gpus.begin());
      }
    }
    return taken;
  }

  void AddMemoryNode(std::uint32_t numa, NumaSet& nodes) const {
    if (numa < machine_.numa_nodes.size() && !machine_.numa_nodes[numa].memory.zero()) {
      nodes.Insert(machine_.numa_nodes[numa].os_index);
    }
  }

  [[nodiscard]] NumaSet AllMemoryNodes() const {
    NumaSet nodes;
    for (std::uint32_t i = 0; i < machine_.numa_nodes.size(); ++i) {
      AddMemoryNode(i, nodes);
    }
    return nodes;
  }

  // Sums the ranks up into the node's part; --exclusive takes what is left of the node too.
  void Finish(Placed& placed) {
    NodeAllocation& allocation = placed.allocation;
    allocation.node = node_.id;
    allocation.name = node_.name;
    DealNodeGpus(allocation);
    std::vector<std::uint32_t> gpus = node_gpus_;
    for (const RankPlacement& rank : allocation.ranks) {
      allocation.cpus |= rank.cpus;
      allocation.mem_nodes |= rank.mem_nodes;
      if (request_.gpus_per_task.count > 0) {
        gpus.insert(gpus.end(), rank.gpus.begin(), rank.gpus.end());
      }
    }
    allocation.memory =
        std::min(MemoryOnNode(machine_, request_, placed.tasks, allocation.cpus.Count()),
                 machine_.memory - std::min(node_.taken.memory, machine_.memory));
    if (request_.exclusive) {
      allocation.cpus = AllCpus(machine_);
      allocation.mem_nodes = AllMemoryNodes();
      allocation.memory = machine_.memory;
      gpus.resize(machine_.gpus.size());
      std::iota(gpus.begin(), gpus.end(), 0U);
    }
    std::sort(gpus.begin(), gpus.end());
    for (std::uint32_t gpu : gpus) {
      allocation.gpus.push_back(GpuGrant{gpu, kWholeGpu});
    }
  }

  // --gpus-per-node: rank i's own are the i-th part of the node's; with fewer GPUs than ranks they
  // share.
  void DealNodeGpus(NodeAllocation& allocation) const {
    const std::size_t ranks = allocation.ranks.size();
    const std::size_t gpus = node_gpus_.size();
    for (std::size_t i = 0; i < ranks && gpus > 0; ++i) {
      if (gpus < ranks) {
        allocation.ranks[i].gpus = {node_gpus_[i * gpus / ranks]};
        continue;
      }
      for (std::size_t k = i * gpus / ranks; k < (i + 1) * gpus / ranks; ++k) {
        allocation.ranks[i].gpus.push_back(node_gpus_[k]);
      }
    }
  }

  const NodePicture& node_;
  const Machine& machine_;
  const ResourceRequest& request_;
  std::vector<Domain> domains_;
  std::vector<std::uint32_t> node_gpus_;
  std::optional<std::size_t> preferred_;
};

}  // namespace

Placed PlaceOnNode(const NodePicture& node, const ResourceRequest& request, std::uint32_t limit) {
  return NodePlacer(node, request).Place(limit);
}

std::uint32_t FreeCores(const NodePicture& node) {
  return static_cast<std::uint32_t>(
      std::count_if(node.machine->cores.begin(), node.machine->cores.end(),
                    [&](const Core& core) { return !node.taken.cpus.Meets(core.cpus); }));
}

std::uint32_t CoresPerTask(const Machine& machine, const ResourceRequest& request) {
  const std::uint64_t threads = ThreadsPerCore(machine);
  return static_cast<std::uint32_t>((request.cpus_per_task + threads - 1) / threads);
}

Bytes MemoryOnNode(const Machine& machine, const ResourceRequest& request, std::uint32_t tasks,
                   std::uint32_t cpus) {
  if (!request.memory_per_node.zero()) {
    return request.memory_per_node;
  }
  if (!request.memory_per_cpu.zero()) {
    return Bytes(SaturatingProduct(request.memory_per_cpu.value(),
                                   std::uint64_t{request.cpus_per_task} * tasks));
  }
  return Bytes(MemoryShare(machine, cpus));
}

std::uint32_t FreeGpus(const NodePicture& node, const GpuRequest& request) {
  std::uint32_t free = 0;
  for (std::size_t i = 0; i < node.machine->gpus.size(); ++i) {
    if (IsGpuFree(node, i) && IsOfType(node.machine->gpus[i], request.type)) {
      ++free;
    }
  }
  return free;
}

std::uint32_t GpusOnNode(const ResourceRequest& request, std::uint32_t tasks) {
  const std::uint64_t gpus =
      request.gpus_per_node.count + std::uint64_t{request.gpus_per_task.count} * tasks;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(gpus, UINT32_MAX));
}

bool IsOfType(const std::string& model, const std::string& type) {
  return type.empty() ||
         std::search(model.begin(), model.end(), type.begin(), type.end(),
                     [](char a, char b) { return Lower(a) == Lower(b); }) != model.end();
}

bool IsOfType(const Gpu& gpu, const std::string& type) {
  return IsOfType(gpu.model, type);
}

}  // namespace muster

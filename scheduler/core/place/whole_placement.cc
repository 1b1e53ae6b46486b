#include "scheduler/core/place/whole_placement.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/core/place/gpu_choice.h"
#include "scheduler/core/place/gpu_links.h"
#include "scheduler/core/place/request.h"

namespace muster::core {
namespace {

bool AsksGpus(const ResourceRequest& request) {
  return request.gpus_per_task.count > 0 || request.gpus_per_node.count > 0;
}

bool IsGpuFree(const NodeSnapshot& node, std::size_t gpu) {
  return gpu >= node.taken.gpus.size() || node.taken.gpus[gpu].zero();
}

bool IsUniform(const Machine& machine) {
  return std::all_of(machine.cores.begin(), machine.cores.end(), [&machine](const Core& core) {
    return core.cpus.Count() == machine.cores.front().cpus.Count();
  });
}

// What is free in one NUMA node (or, last, in none).
struct Domain {
  std::vector<std::uint32_t> cores;  // positions, by (L3, position)
  std::vector<std::uint32_t> gpus;   // positions
  std::uint32_t socket = kNowhere;   // of its cores
};

// The choice of places on one node, task by task.
class NodePlacer {
 public:
  NodePlacer(const NodeSnapshot& node, const ResourceRequest& request)
      : node_(node), machine_(*node.machine), request_(request) {
    domains_.resize(machine_.numa_nodes.size() + 1);
    if (request.layout.has_value() && request.layout->tasks_per_socket > 0) {
      sockets_.most = request.layout->tasks_per_socket;
    }
    CollectCores();
    CollectGpus();
  }

  Placed Place(std::uint32_t limit) {
    Placed placed;
    if ((request_.exclusive && !IsIdle()) || !HasGresFree(node_, request_)) {
      return placed;
    }
    limit = std::min(limit, MemoryLimit());
    if (AsksGpus(request_)) {
      PlaceWithGpus(limit, placed);
    } else {
      while (placed.tasks < limit && PlaceNext(limit - placed.tasks, placed)) {
      }
    }
    if (placed.tasks > 0) {
      Finish(placed);
    }
    return placed;
  }

 private:
  [[nodiscard]] bool IsIdle() const {
    return node_.taken.cpus.Empty() && node_.taken.memory.zero() && node_.taken.gres.empty() &&
           std::all_of(node_.taken.gpus.begin(), node_.taken.gpus.end(),
                       [](GpuShare share) { return share.zero(); });
  }

  [[nodiscard]] std::uint32_t Width(std::uint32_t core) const { return widths_[core]; }

  void CollectCores() {
    widths_.resize(machine_.cores.size());
    for (std::uint32_t i = 0; i < machine_.cores.size(); ++i) {
      const Core& core = machine_.cores[i];
      if (!node_.taken.cpus.Meets(core.cpus)) {
        widths_[i] = CountedThreads(request_, core.cpus.Count());
        Domain& domain = DomainOf(core.numa);
        domain.cores.push_back(i);
        domain.socket = SocketOf(core);
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
      if (IsGpuFree(node_, i) && IsOfKind(machine_.gpus[i], GpuKind(request_))) {
        DomainOf(machine_.gpus[i].numa).gpus.push_back(i);
      }
    }
  }

  Domain& DomainOf(std::uint32_t numa) { return domains_[PlaceOf(numa)]; }

  [[nodiscard]] std::size_t PlaceOf(std::uint32_t numa) const {
    numa = numa == kNowhere && machine_.numa_nodes.size() == 1 ? 0 : numa;
    return std::min<std::size_t>(numa, domains_.size() - 1);
  }

  // How many tasks the node's free memory allows.
  [[nodiscard]] std::uint32_t MemoryLimit() const {
    const Bytes free = node_.machine->memory - std::min(node_.taken.memory, machine_.memory);
    if (!request_.memory_per_node.zero()) {
      return request_.memory_per_node <= free ? UINT32_MAX : 0;
    }
    const auto threads = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(ThreadsPerTask(machine_, request_), UINT32_MAX));
    const Bytes per_task = MemoryOnNode(machine_, request_, 1, threads);
    if (request_.memory_per_cpu.zero() && request_.overcommit) {
      return per_task <= free ? UINT32_MAX
                              : 0;  // all tasks share the threads, and the memory, of one
    }
    return per_task.zero() ? UINT32_MAX
                           : static_cast<std::uint32_t>(std::min<std::uint64_t>(
                                 free.value() / per_task.value(), UINT32_MAX));
  }

  // A rank that has its GPUs and looks for its cores.
  struct Slot {
    std::vector<std::uint32_t> gpus;
    std::optional<std::size_t> domain;  // where its GPUs are, when there are cores, too
  };

  // How many tasks of at most `limit` find cores and GPUs.
  [[nodiscard]] std::uint32_t TasksWithGpus(std::uint32_t limit) const {
    std::uint32_t gpus = 0;
    std::uint32_t tasks = 0;
    std::uint32_t left_over = 0;
    for (const Domain& domain : domains_) {
      gpus += static_cast<std::uint32_t>(domain.gpus.size());
      std::uint32_t cpus = 0;
      for (const std::uint32_t core : domain.cores) {
        cpus += Width(core);
        if (cpus >= request_.cpus_per_task) {
          ++tasks;
          cpus = 0;
        }
      }
      left_over += cpus;
    }
    tasks += left_over / request_.cpus_per_task;
    if (request_.overcommit) {
      tasks = tasks > 0 ? limit : 0;
    }
    const std::uint32_t each = request_.gpus_per_task.count;
    if (gpus < request_.gpus_per_node.count) {
      return 0;
    }
    return std::min({limit, tasks, each > 0 ? gpus / each : limit});
  }

  void PlaceWithGpus(std::uint32_t limit, Placed& placed) {
    const std::uint32_t tasks = TasksWithGpus(limit);
    if (tasks == 0) {
      return;
    }
    const GpuLinkTable links(machine_);
    std::vector<Slot> slots = SlotsFor(tasks, links, ChosenGpus(tasks, links));
    if (request_.overcommit) {
      return ShareCores(slots, placed);
    }
    placed.allocation.ranks.resize(slots.size());
    for (const bool local : {true, false}) {
      for (std::uint32_t i = 0; i < slots.size(); ++i) {
        if (slots[i].domain.has_value() == local && !PlaceSlot(slots[i], i, placed)) {
          placed = Placed();
          return;
        }
      }
    }
  }

  // The GPUs that serve `tasks` tasks best.
  std::vector<std::uint32_t> ChosenGpus(std::uint32_t tasks, const GpuLinkTable& links) {
    const std::uint32_t on_node = request_.gpus_per_node.count;
    GpuDemand demand;
    demand.tasks = tasks;
    demand.gpus = GpusOnNode(request_, tasks);
    demand.per_task =
        on_node > 0 ? std::max((on_node + tasks - 1) / tasks, 1U) : request_.gpus_per_task.count;
    demand.sharers = on_node > 0 && on_node < tasks ? (tasks + on_node - 1) / on_node : 1;
    std::vector<GpuDomain> choice;
    for (std::size_t i = 0; i < domains_.size(); ++i) {
      const bool somewhere = i + 1 < domains_.size() || domains_.size() == 1;
      choice.push_back({domains_[i].gpus, somewhere ? CoreTasks(i, tasks) : 0});
    }
    std::vector<std::uint32_t> chosen = ChooseGpus(links, choice, demand);
    if (on_node > 0) {
      node_gpus_ = chosen;
    }
    return chosen;
  }

  // Tasks, of at most `most`, that find their cores in the domain.
  [[nodiscard]] std::uint32_t CoreTasks(std::size_t domain, std::uint32_t most) const {
    const std::uint32_t tasks = Capacity(domains_[domain]);
    return request_.overcommit && tasks > 0 ? most : tasks;
  }

  // The chosen GPUs dealt to the tasks: first those that are local, domain by domain.
  [[nodiscard]] std::vector<Slot> SlotsFor(std::uint32_t tasks, const GpuLinkTable& links,
                                           const std::vector<std::uint32_t>& chosen) const {
    std::vector<std::vector<std::uint32_t>> here(domains_.size());
    for (const std::uint32_t gpu : chosen) {
      here[PlaceOf(machine_.gpus[gpu].numa)].push_back(gpu);
    }
    std::vector<std::uint32_t> room;
    for (std::size_t i = 0; i < domains_.size(); ++i) {
      room.push_back(CoreTasks(i, tasks));
    }
    return chosen.size() < tasks ? SharedSlots(tasks, here, room)
                                 : OwnSlots(tasks, links, here, room);
  }

  // Task i shares a GPU with its neighbours: blocks that differ by one task at most.
  [[nodiscard]] static std::vector<Slot> SharedSlots(
      std::uint32_t tasks, const std::vector<std::vector<std::uint32_t>>& here,
      std::vector<std::uint32_t>& room) {
    std::vector<std::pair<std::uint32_t, std::size_t>> gpus;  // with its domain
    for (std::size_t domain = 0; domain < here.size(); ++domain) {
      for (const std::uint32_t gpu : here[domain]) {
        gpus.emplace_back(gpu, domain);
      }
    }
    std::vector<Slot> slots;
    for (std::uint32_t i = 0; i < tasks; ++i) {
      const auto& [gpu, domain] = gpus[std::size_t{i} * gpus.size() / tasks];
      const bool local = room[domain] > 0;
      room[domain] -= local ? 1 : 0;
      slots.push_back({{gpu}, local ? std::optional(domain) : std::nullopt});
    }
    return slots;
  }

  // Task i has GPUs of its own; without a number for each, as many as an even division gives it.
  [[nodiscard]] static std::vector<Slot> OwnSlots(std::uint32_t tasks, const GpuLinkTable& links,
                                                  std::vector<std::vector<std::uint32_t>> here,
                                                  std::vector<std::uint32_t>& room) {
    std::size_t all = 0;
    for (const auto& gpus : here) {
      all += gpus.size();
    }
    std::vector<Slot> slots(tasks);
    // Those that are joined best, of what is left.
    const auto take = [&links](std::vector<std::uint32_t>& from, std::size_t most, Slot& slot) {
      const auto count = static_cast<std::uint32_t>(std::min(most, from.size()));
      const std::vector<std::uint32_t> group =
          count < 2 ? std::vector<std::uint32_t>(from.begin(), from.begin() + count)
                    : ChooseGpus(links, {{from, 1}}, {1, count, count, 1});
      slot.gpus.insert(slot.gpus.end(), group.begin(), group.end());
      std::erase_if(from, [&group](std::uint32_t gpu) {
        return std::binary_search(group.begin(), group.end(), gpu);
      });
    };
    const auto wants = [all, tasks](std::size_t i) {
      return (i + 1) * all / tasks - i * all / tasks;
    };
    std::uint32_t next = 0;
    for (std::size_t domain = 0; domain < here.size(); ++domain) {
      while (next < tasks && room[domain] > 0 && here[domain].size() >= wants(next)) {
        take(here[domain], wants(next), slots[next]);
        slots[next++].domain = domain;
        --room[domain];
      }
    }
    for (; next < tasks; ++next) {
      for (std::size_t domain = 0; domain < here.size(); ++domain) {
        take(here[domain], wants(next) - slots[next].gpus.size(), slots[next]);
      }
    }
    return slots;
  }

  bool PlaceSlot(Slot& slot, std::uint32_t rank, Placed& placed) {
    Placed one;
    if (!PlaceTask(slot.domain.has_value() ? slot.domain : ChooseDomain(1), one)) {
      return false;
    }
    placed.allocation.ranks[rank] = std::move(one.allocation.ranks.front());
    placed.allocation.ranks[rank].rank = rank;
    placed.allocation.ranks[rank].gpus = std::move(slot.gpus);
    ++placed.tasks;
    return true;
  }

  // --overcommit: the cores of one task for all, beside the GPUs of most of them.
  void ShareCores(std::vector<Slot>& slots, Placed& placed) {
    std::vector<std::uint32_t> votes(domains_.size(), 0);
    for (const Slot& slot : slots) {
      if (slot.domain.has_value()) {
        ++votes[*slot.domain];
      }
    }
    const auto most = std::max_element(votes.begin(), votes.end());
    const std::optional<std::size_t> domain =
        *most > 0 ? std::optional(static_cast<std::size_t>(most - votes.begin())) : ChooseDomain(1);
    Placed one;
    if (!PlaceTask(domain, one)) {
      return;
    }
    for (Slot& slot : slots) {
      RankPlacement rank = one.allocation.ranks.front();
      rank.rank = placed.tasks++;
      rank.gpus = std::move(slot.gpus);
      placed.allocation.ranks.push_back(std::move(rank));
    }
  }

  // Tasks whose cores fit into one domain with what is left in it.
  [[nodiscard]] std::uint32_t Capacity(const Domain& domain) const {
    std::uint32_t tasks = 0;
    std::uint32_t cpus = 0;
    for (std::uint32_t core : domain.cores) {
      cpus += Width(core);
      if (cpus >= request_.cpus_per_task) {
        ++tasks;
        cpus = 0;
      }
    }
    const auto used = sockets_.tasks.find(domain.socket);
    return std::min(tasks, sockets_.most - (used == sockets_.tasks.end() ? 0 : used->second));
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
        RankPlacement rank = placed.allocation.ranks.front();
        rank.rank = placed.tasks++;
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
    std::optional<std::uint32_t> socket;
    if (sockets_.most < UINT32_MAX) {
      socket = domain.has_value() ? std::optional(domains_[*domain].socket) : RoomySocket();
      if (!socket.has_value() && FitsOnASocket()) {
        return false;
      }
      if (socket.has_value() && ++sockets_.tasks[*socket] > sockets_.most) {
        return false;
      }
    }
    RankPlacement rank;
    rank.rank = placed.tasks;
    for (std::uint32_t core : TakeCores(domain, socket)) {
      rank.cpus |= machine_.cores[core].cpus;
      AddMemoryNode(machine_.cores[core].numa, rank.mem_nodes);
    }
    if (rank.mem_nodes.Empty()) {
      rank.mem_nodes = AllMemoryNodes();
    }
    placed.allocation.ranks.push_back(std::move(rank));
    ++placed.tasks;
    return true;
  }

  [[nodiscard]] bool HasRoom(std::optional<std::size_t> only) const {
    std::uint32_t cpus = 0;
    for (std::size_t i = 0; i < domains_.size(); ++i) {
      if (only.has_value() && *only != i) {
        continue;
      }
      for (std::uint32_t core : domains_[i].cores) {
        cpus += Width(core);
        if (cpus >= request_.cpus_per_task) {
          return true;
        }
      }
    }
    return cpus >= request_.cpus_per_task;
  }

  // --ntasks-per-socket: the first socket that may have one more task and has the cores, over its
  // domains.
  [[nodiscard]] std::optional<std::uint32_t> RoomySocket() const {
    std::map<std::uint32_t, std::uint32_t> cpus;
    for (const Domain& domain : domains_) {
      for (const std::uint32_t core : domain.cores) {
        cpus[domain.socket] += Width(core);
      }
    }
    for (const auto& [socket, free] : cpus) {
      const auto used = sockets_.tasks.find(socket);
      if (free >= request_.cpus_per_task &&
          (used == sockets_.tasks.end() || used->second < sockets_.most)) {
        return socket;
      }
    }
    return std::nullopt;
  }

  // Whether a task has room on some socket when nothing is taken; else it lies over several.
  [[nodiscard]] bool FitsOnASocket() const {
    std::map<std::uint32_t, std::uint32_t> cpus;
    for (const Core& core : machine_.cores) {
      cpus[SocketOf(core)] += CountedThreads(request_, core.cpus.Count());
    }
    return std::any_of(cpus.begin(), cpus.end(), [this](const auto& socket) {
      return socket.second >= request_.cpus_per_task;
    });
  }

  // Takes the first cores of the domain, or the socket, or of any, in order, for one task.
  std::vector<std::uint32_t> TakeCores(std::optional<std::size_t> only,
                                       std::optional<std::uint32_t> socket) {
    std::vector<std::uint32_t> taken;
    std::uint32_t cpus = 0;
    for (std::size_t i = 0; i < domains_.size() && cpus < request_.cpus_per_task; ++i) {
      if (only.has_value() ? *only != i : socket.has_value() && domains_[i].socket != *socket) {
        continue;
      }
      std::vector<std::uint32_t>& cores = domains_[i].cores;
      std::size_t used = 0;
      while (used < cores.size() && cpus < request_.cpus_per_task) {
        cpus += Width(cores[used]);
        taken.push_back(cores[used++]);
      }
      cores.erase(cores.begin(), cores.begin() + static_cast<std::ptrdiff_t>(used));
    }
    return taken;
  }

  void AddMemoryNode(std::uint32_t numa, NumaSet& nodes) const {
    if (numa < machine_.numa_nodes.size() &&
        (!machine_.numa_nodes[numa].memory.zero() || machine_.memory.zero())) {
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
    allocation.gres = request_.gres;
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
      allocation.gres = machine_.gres;
      gpus.resize(machine_.gpus.size());
      std::iota(gpus.begin(), gpus.end(), 0U);
    }
    std::sort(gpus.begin(), gpus.end());
    for (std::uint32_t gpu : gpus) {
      allocation.gpus.push_back(GpuGrant{gpu, kWholeGpu});
    }
  }

  const NodeSnapshot& node_;
  const Machine& machine_;
  const ResourceRequest& request_;
  std::vector<Domain> domains_;
  std::vector<std::uint32_t> widths_;  // of the free cores, by position
  std::vector<std::uint32_t> node_gpus_;
  struct {
    std::uint32_t most = UINT32_MAX;  // tasks on each
    std::map<std::uint32_t, std::uint32_t> tasks;
  } sockets_;
};

}  // namespace

Placed PlaceWhole(const NodeSnapshot& node, const ResourceRequest& request, std::uint32_t limit) {
  Placed placed = NodePlacer(node, request).Place(limit);
  if (!AsksGpus(request)) {
    return placed;
  }
  // Cores of different widths, or tasks held apart, may be fewer than the threads promise.
  limit = std::min(limit, static_cast<std::uint32_t>(node.machine->cores.size()) + 1);
  const bool limited = request.layout.has_value() && request.layout->tasks_per_socket > 0;
  for (; placed.tasks == 0 && limit > 1 && (limited || !IsUniform(*node.machine)); --limit) {
    placed = NodePlacer(node, request).Place(limit - 1);
  }
  return placed;
}

}  // namespace muster::core

#include "scheduler/core/place/locality.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace muster::core {
namespace {

// The NUMA nodes (positions) of the rank's cores; kNowhere for one of a core that says none.
std::set<std::uint32_t> NumaOfCores(const Machine& machine, const RankPlacement& rank) {
  std::set<std::uint32_t> nodes;
  for (const Core& core : machine.cores) {
    if (core.cpus.Meets(rank.cpus)) {
      nodes.insert(core.numa);
    }
  }
  return nodes;
}

std::uint32_t EffectiveNuma(const Machine& machine, std::uint32_t numa) {
  return numa == kNowhere && machine.numa_nodes.size() == 1 ? 0 : numa;
}

// The best way from the GPU to the NIC that the machine knows of.
LinkKind WayTo(const Machine& machine, std::uint32_t gpu, std::uint32_t nic) {
  const auto found =
      std::find_if(machine.nic_links.begin(), machine.nic_links.end(),
                   [&](const DeviceLink& link) { return link.a == gpu && link.b == nic; });
  if (found != machine.nic_links.end()) {
    return found->kind;
  }
  if (gpu >= machine.gpus.size()) {
    return LinkKind::kUnknown;
  }
  const std::uint32_t near_gpu = EffectiveNuma(machine, machine.gpus[gpu].numa);
  const std::uint32_t near_nic = EffectiveNuma(machine, machine.nics[nic].numa);
  if (near_gpu == kNowhere || near_nic == kNowhere) {
    return LinkKind::kUnknown;
  }
  return near_gpu == near_nic ? LinkKind::kNode : LinkKind::kSystem;
}

}  // namespace

bool IsLocal(const Machine& machine, const RankPlacement& rank) {
  if (machine.numa_nodes.empty()) {
    return true;
  }
  const std::set<std::uint32_t> cores = NumaOfCores(machine, rank);
  if (cores.size() != 1) {
    return false;
  }
  const std::uint32_t numa = EffectiveNuma(machine, *cores.begin());
  if (numa == kNowhere) {
    return false;
  }
  return rank.mem_nodes == NumaSet::Of({machine.numa_nodes[numa].os_index}) &&
         std::all_of(rank.gpus.begin(), rank.gpus.end(), [&](std::uint32_t gpu) {
           return gpu < machine.gpus.size() &&  // it may have come back with fewer
                  EffectiveNuma(machine, machine.gpus[gpu].numa) == numa;
         });
}

void AddLocality(const Machine& machine, const NodeAllocation& part, Locality& locality) {
  for (const RankPlacement& rank : part.ranks) {
    ++locality.ranks;
    locality.local += IsLocal(machine, rank) ? 1 : 0;
  }
}

std::vector<std::uint32_t> NearestNics(const Machine& machine, const NodeAllocation& part) {
  std::vector<std::uint32_t> chosen;
  std::vector<std::uint32_t> used(machine.nics.size(), 0);
  for (const RankPlacement& rank : part.ranks) {
    const std::set<std::uint32_t> cores = NumaOfCores(machine, rank);
    // Better first: the weakest way of its GPUs, then beside its cores, then little used.
    using Rank = std::tuple<int, bool, std::uint32_t, std::uint32_t>;
    Rank best{0, false, 0, kNowhere};
    for (std::uint32_t nic = 0; nic < machine.nics.size(); ++nic) {
      LinkKind way = rank.gpus.empty() ? LinkKind::kUnknown : LinkKind::kNvLink;
      for (const std::uint32_t gpu : rank.gpus) {
        way = std::min(way, WayTo(machine, gpu, nic));
      }
      const std::uint32_t numa = EffectiveNuma(machine, machine.nics[nic].numa);
      const bool beside =
          cores.size() == 1 && numa != kNowhere && EffectiveNuma(machine, *cores.begin()) == numa;
      const Rank its{-static_cast<int>(way), !beside, used[nic], nic};
      best = std::get<3>(best) == kNowhere ? its : std::min(best, its);
    }
    const std::uint32_t nic = std::get<3>(best);
    chosen.push_back(nic);
    if (nic != kNowhere) {
      ++used[nic];
    }
  }
  return chosen;
}

}  // namespace muster::core

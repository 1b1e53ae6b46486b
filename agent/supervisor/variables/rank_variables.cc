#include "agent/supervisor/variables/rank_variables.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "absl/strings/str_join.h"
#include "agent/supervisor/variables/device_environment.h"
#include "scheduler/model/job/rank_layout.h"

namespace muster::agent {
namespace {

// "0x3": as the tools that read SLURM_CPU_BIND want it.
std::string HexMask(const CpuSet& cpus) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::vector<std::uint32_t> members = cpus.Members();
  std::vector<unsigned> nibbles(members.empty() ? 1 : members.back() / 4 + 1, 0U);
  for (const std::uint32_t member : members) {
    nibbles[member / 4] |= 1U << (member % 4);
  }
  std::string mask = "0x";
  for (auto nibble = nibbles.rbegin(); nibble != nibbles.rend(); ++nibble) {
    mask += kDigits[*nibble];
  }
  return mask;
}

}  // namespace

void SetDevices(const SupervisorOrder& order, const NodeAllocation& node, const RankPlacement* rank,
                Variables* variables) {
  for (DeviceVariable& device : DeviceVariables(order, node, rank)) {
    if (!device.yields || !variables->Has(device.name)) {
      variables->Set(device.name, std::move(device.value));
    }
  }
}

void SetCpuBindings(const NodeAllocation& node, Variables* variables) {
  std::vector<std::string> masks;
  for (const RankPlacement& each : node.ranks) {
    masks.push_back(HexMask(each.cpus));
  }
  const std::string list = absl::StrJoin(masks, ",");
  variables->SetTwins("CPU_BIND_VERBOSE", std::string("quiet"));
  variables->SetTwins("CPU_BIND_TYPE", std::string("mask_cpu:"));
  variables->SetTwins("CPU_BIND_LIST", list);
  variables->SetTwins("CPU_BIND", absl::StrCat("quiet,mask_cpu:", list));
}

void SetPlace(const RankPlacement& rank, Variables* variables) {
  variables->Set("MUSTER_CPUS", rank.cpus.ToList());
  variables->Set("MUSTER_MEM_NODES", rank.mem_nodes.ToList());
}

void SetGridPlace(const std::vector<std::uint32_t>& grid, std::uint32_t rank, std::uint32_t ranks,
                  Variables* variables) {
  if (RanksOfGrid(grid) == ranks) {
    variables->Set("MUSTER_GRID", absl::StrJoin(grid, "x"));
    variables->Set("MUSTER_GRID_COORDS", absl::StrJoin(GridCoordinates(grid, rank), ","));
  }
}

std::string PlacesOf(const Machine& machine, const CpuSet& cpus) {
  std::vector<std::string> places;
  for (const Core& core : machine.cores) {
    const CpuSet mine = core.cpus & cpus;
    if (!mine.Empty()) {
      places.push_back(absl::StrCat("{", absl::StrJoin(mine.Members(), ","), "}"));
    }
  }
  return absl::StrJoin(places, ",");
}

void SetThreads(std::size_t threads, Variables* variables) {
  if (variables->Has("OMP_NUM_THREADS")) {
    return;
  }
  variables->Set("OMP_NUM_THREADS", threads);
  for (const char* name : kBlasThreads) {
    if (!variables->Has(name)) {
      variables->Set(name, threads);
    }
  }
}

void SetOpenMp(const SupervisorOrder& order, const RankPlacement& rank, Variables* variables) {
  // The launcher of an elastic job shares them out among its workers, one for each GPU.
  const std::size_t workers = order.launch.spec.elastic ? rank.gpus.size() : 1;
  SetThreads(std::max<std::size_t>(rank.cpus.Count() / std::max<std::size_t>(workers, 1), 1),
             variables);
  const bool starts_workers = !rank.gpus.empty() || order.launch.spec.elastic;
  if (variables->Has("OMP_PLACES") || variables->Has("OMP_PROC_BIND") || starts_workers ||
      !order.machine.enforced) {
    return;
  }
  if (std::string places = PlacesOf(order.machine, rank.cpus); !places.empty()) {
    variables->Set("OMP_PLACES", std::move(places));
    variables->Set("OMP_PROC_BIND", std::string("close"));
  }
}

}  // namespace muster::agent

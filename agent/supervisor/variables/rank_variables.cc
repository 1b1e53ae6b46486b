#include "agent/supervisor/variables/rank_variables.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "agent/supervisor/variables/device_environment.h"

namespace muster::agent {
namespace {

// "0x3": as the tools that read SLURM_CPU_BIND want it.
std::string HexMask(const CpuSet& cpus) {
  std::string digits;
  const std::vector<std::uint32_t> members = cpus.Members();
  const std::uint32_t nibbles = members.empty() ? 1 : members.back() / 4 + 1;
  for (std::uint32_t nibble = nibbles; nibble-- > 0;) {
    unsigned value = 0;
    for (std::uint32_t bit = 0; bit < 4; ++bit) {
      value |= cpus.Contains(nibble * 4 + bit) ? 1U << bit : 0U;
    }
    digits += absl::StrFormat("%x", value);
  }
  return "0x" + digits;
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

void SetCpuBinding(const NodeAllocation& node, const RankPlacement& rank, Variables* variables) {
  std::vector<std::string> masks;
  for (const RankPlacement& each : node.ranks) {
    masks.push_back(HexMask(each.cpus));
  }
  variables->SetTwins("CPU_BIND_VERBOSE", std::string("quiet"));
  variables->SetTwins("CPU_BIND_TYPE", std::string("mask_cpu:"));
  variables->SetTwins("CPU_BIND_LIST", absl::StrJoin(masks, ","));
  variables->SetTwins("CPU_BIND", absl::StrCat("quiet,mask_cpu:", absl::StrJoin(masks, ",")));
  variables->Set("MUSTER_CPUS", rank.cpus.ToList());
  variables->Set("MUSTER_MEM_NODES", rank.mem_nodes.ToList());
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

void SetOpenMp(const SupervisorOrder& order, const RankPlacement& rank, Variables* variables) {
  if (!variables->Has("OMP_NUM_THREADS")) {
    // The launcher of an elastic job shares them out among its workers, one for each GPU.
    const std::size_t workers = order.launch.spec.elastic ? rank.gpus.size() : 1;
    variables->Set("OMP_NUM_THREADS",
                   std::max<std::size_t>(rank.cpus.Count() / std::max<std::size_t>(workers, 1), 1));
  }
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

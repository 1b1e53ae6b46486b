#include "scheduler/model/machine/machine_check.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster {
namespace {

absl::Status Wrong(const std::string& what) {
  return absl::InternalError(what);
}

template <class T>
bool Points(std::uint32_t position, const std::vector<T>& into) {
  return position == kNowhere || position < into.size();
}

// So that neither sums nor sets of numbers overflow.
absl::Status CheckAmounts(const Machine& machine) {
  if (std::max({machine.packages.size(), machine.numa_nodes.size(), machine.l3_caches.size(),
                machine.gpus.size(), machine.nics.size(), machine.dies.size(),
                machine.mig.size()}) > kMachineDevicesMax) {
    return Wrong(absl::StrCat("more than ", kMachineDevicesMax, " of a kind"));
  }
  if (machine.memory > kMachineMemoryMax) {
    return Wrong("more than 1 PiB of memory");
  }
  if (machine.gres.size() > kGresKinds) {
    return Wrong(absl::StrCat("more than ", kGresKinds, " countable things (gres)"));
  }
  for (std::size_t i = 0; i < machine.gres.size(); ++i) {
    const GresCount& gres = machine.gres[i];
    if (!IsGresName(gres.name) || gres.count == 0 || gres.count > UINT32_MAX ||
        (i > 0 && gres.name <= machine.gres[i - 1].name)) {
      return Wrong(absl::StrCat("gres ", i, " is no sorted NAME:COUNT"));
    }
  }
  for (const NumaNode& node : machine.numa_nodes) {
    if (node.os_index >= Bits::kLimit) {
      return Wrong("a memory node numbered 65536 or higher");
    }
    if (node.memory > kMachineMemoryMax) {
      return Wrong("a memory node with more than 1 PiB");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCores(const Machine& machine) {
  if (machine.cores.empty()) {
    return Wrong("no cores");
  }
  CpuSet seen;
  std::uint32_t last_first = 0;
  for (std::size_t i = 0; i < machine.cores.size(); ++i) {
    const Core& core = machine.cores[i];
    if (core.cpus.Empty()) {
      return Wrong(absl::StrCat("core at ", i, " has no threads"));
    }
    if (core.cpus.Meets(seen)) {
      return Wrong(absl::StrCat("core at ", i, " shares threads with another"));
    }
    if (i > 0 && core.cpus.First() <= last_first) {
      return Wrong(absl::StrCat("core at ", i, " is not in the order of first threads"));
    }
    if (!Points(core.numa, machine.numa_nodes) || !Points(core.l3, machine.l3_caches) ||
        !Points(core.package, machine.packages)) {
      return Wrong(absl::StrCat("core at ", i, " points at what is not there"));
    }
    seen |= core.cpus;
    last_first = core.cpus.First();
  }
  return absl::OkStatus();
}

absl::Status CheckNumaNodes(const Machine& machine) {
  std::vector<CpuSet> cpus(machine.numa_nodes.size());
  for (const Core& core : machine.cores) {
    if (core.numa != kNowhere) {
      cpus[core.numa] |= core.cpus;
    }
  }
  Bytes sum;
  std::set<std::uint32_t> seen;
  for (std::size_t i = 0; i < machine.numa_nodes.size(); ++i) {
    const NumaNode& node = machine.numa_nodes[i];
    if (node.cpus != cpus[i]) {
      return Wrong(absl::StrCat("NUMA node ", node.os_index, " has threads ", node.cpus.ToList(),
                                " but its cores have ", cpus[i].ToList()));
    }
    if (!seen.insert(node.os_index).second) {
      return Wrong(absl::StrCat("two NUMA nodes are number ", node.os_index));
    }
    sum += node.memory;
  }
  if (machine.memory < sum) {
    return Wrong(
        absl::StrCat("memory ", machine.memory.value(), " is below the NUMA nodes' ", sum.value()));
  }
  return absl::OkStatus();
}

absl::Status CheckCaches(const Machine& machine) {
  std::vector<CpuSet> cpus(machine.l3_caches.size());
  for (const Core& core : machine.cores) {
    if (core.l3 != kNowhere) {
      cpus[core.l3] |= core.cpus;
    }
  }
  for (std::size_t i = 0; i < machine.l3_caches.size(); ++i) {
    if (machine.l3_caches[i].cpus != cpus[i]) {
      return Wrong(absl::StrCat("L3 cache at ", i, " has threads that its cores have not"));
    }
    if (!Points(machine.l3_caches[i].package, machine.packages)) {
      return Wrong(absl::StrCat("L3 cache at ", i, " points at no package"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckDies(const Machine& machine) {
  std::vector<CpuSet> packages(machine.packages.size());
  for (const Core& core : machine.cores) {
    if (core.package != kNowhere) {
      packages[core.package] |= core.cpus;
    }
  }
  CpuSet seen;
  for (std::size_t i = 0; i < machine.dies.size(); ++i) {
    const Die& die = machine.dies[i];
    if (die.package >= packages.size()) {
      return Wrong(absl::StrCat("die at ", i, " points at no package"));
    }
    CpuSet beyond = die.cpus;
    beyond -= packages[die.package];
    if (die.cpus.Empty() || die.cpus.Meets(seen) || !beyond.Empty()) {
      return Wrong(absl::StrCat("die at ", i, " has no threads of its package to itself"));
    }
    seen |= die.cpus;
  }
  return absl::OkStatus();
}

// A number is that of one GPU of its vendor, whole or divided.
absl::Status CheckGpuNames(const Machine& machine) {
  std::set<std::string> uuids;
  std::map<std::pair<GpuVendor, std::uint32_t>, std::string> parents;  // "" of whole GPUs
  for (const Gpu& gpu : machine.gpus) {
    const auto [known, is_new] = parents.emplace(std::pair(gpu.vendor, gpu.os_index), gpu.parent);
    const bool is_sibling = !gpu.parent.empty() && known->second == gpu.parent;
    if (gpu.uuid.empty() || !uuids.insert(gpu.uuid).second || (!is_new && !is_sibling)) {
      return Wrong(absl::StrCat("GPU ", gpu.os_index, " has no name of its own (", gpu.uuid, ")"));
    }
    if (gpu.instance.empty() != gpu.parent.empty()) {
      return Wrong(absl::StrCat("GPU ", gpu.os_index, " (", gpu.uuid,
                                ") is an instance without a profile or a parent"));
    }
  }
  for (const Gpu& gpu : machine.gpus) {
    if (uuids.count(gpu.parent) != 0) {
      return Wrong(absl::StrCat("GPU ", gpu.os_index, " is there both whole and divided (",
                                gpu.parent, ")"));
    }
  }
  return absl::OkStatus();
}

// What says how a GPU can be divided.
absl::Status CheckMig(const Machine& machine) {
  std::set<std::string> uuids;
  for (const MigGpu& gpu : machine.mig) {
    if (gpu.whole.uuid.empty() || !uuids.insert(gpu.whole.uuid).second ||
        !gpu.whole.instance.empty() || !gpu.whole.parent.empty() ||
        !Points(gpu.whole.numa, machine.numa_nodes)) {
      return Wrong(absl::StrCat("GPU ", gpu.whole.os_index, " (", gpu.whole.uuid,
                                ") is no whole GPU that MIG can divide"));
    }
    if (gpu.profiles.size() > kMigProfilesMax ||
        !std::all_of(gpu.profiles.begin(), gpu.profiles.end(), IsMigProfile)) {
      return Wrong(absl::StrCat("GPU ", gpu.whole.os_index, " has MIG profiles that cannot be"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckDevices(const Machine& machine) {
  RETURN_IF_ERROR(CheckGpuNames(machine));
  for (const Gpu& gpu : machine.gpus) {
    if (!Points(gpu.numa, machine.numa_nodes)) {
      return Wrong(absl::StrCat("GPU ", gpu.os_index, " points at no NUMA node"));
    }
  }
  for (const Nic& nic : machine.nics) {
    if (!Points(nic.numa, machine.numa_nodes)) {
      return Wrong(absl::StrCat("NIC ", nic.name, " points at no NUMA node"));
    }
  }
  return absl::OkStatus();
}

// Links of one kind: both ends there, sorted, no pair twice.
absl::Status CheckLinkList(const std::vector<DeviceLink>& links, const char* name, std::size_t gpus,
                           std::size_t others, bool among_gpus) {
  for (std::size_t i = 0; i < links.size(); ++i) {
    const DeviceLink& link = links[i];
    if (link.a >= gpus || link.b >= others || (among_gpus && link.b <= link.a)) {
      return Wrong(absl::StrCat(name, " ", i, " joins ", link.a, " and ", link.b,
                                ", which are no pair of devices"));
    }
    if (i > 0 && std::pair(link.a, link.b) <= std::pair(links[i - 1].a, links[i - 1].b)) {
      return Wrong(absl::StrCat(name, " ", i, " is out of order or there twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckLinks(const Machine& machine) {
  RETURN_IF_ERROR(
      CheckLinkList(machine.gpu_links, "GPU link", machine.gpus.size(), machine.gpus.size(), true));
  return CheckLinkList(machine.nic_links, "NIC link", machine.gpus.size(), machine.nics.size(),
                       false);
}

}  // namespace

bool IsMigProfile(const MigProfile& profile) {
  constexpr std::size_t kNameMax = 64;
  const auto is_printable = [](char letter) { return letter > ' ' && letter < 0x7f; };
  return !profile.name.empty() && profile.name.size() <= kNameMax &&
         std::all_of(profile.name.begin(), profile.name.end(), is_printable) &&
         profile.slices >= 1 && profile.slices <= kMigSlicesMax && profile.instances >= 1 &&
         profile.instances <= kMigSlicesMax && profile.placements.size() <= kMigSlicesMax &&
         std::all_of(profile.placements.begin(), profile.placements.end(),
                     [](const MigPlacement& placement) {
                       return placement.size >= 1 && placement.size <= kMigSlicesMax &&
                              placement.start <= kMigSlicesMax - placement.size;
                     });
}

absl::Status CheckMachine(const Machine& machine) {
  for (const auto check : {CheckAmounts, CheckCores, CheckNumaNodes, CheckCaches, CheckDies,
                           CheckDevices, CheckMig, CheckLinks}) {
    const absl::Status status = check(machine);
    if (!status.ok()) {
      return absl::InternalError(absl::StrCat(
          machine.source, ": contradictory topology: ", std::string(status.message())));
    }
  }
  return absl::OkStatus();
}

}  // namespace muster

#include "scheduler/simulator/workload/machines.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/simulator/workload/draws.h"

namespace muster::sim {
namespace {

// Sockets, NUMA nodes, caches and cores; each may be left unsaid.
void AddCores(std::uint32_t threads, std::uint32_t per_core, RandomSequence& random,
              Machine* machine) {
  const std::uint32_t packages = 1 + Draw(random, 2);
  const std::uint32_t numa_each = 1 + Draw(random, 2);
  const std::uint32_t cores = std::max(threads / per_core, packages * numa_each);
  const bool knows_numa = !Chance(random, 100);
  const bool knows_caches = !Chance(random, 200);
  const bool knows_dies = Chance(random, 200);
  const std::uint32_t numa_nodes = packages * numa_each;
  for (std::uint32_t i = 0; i < packages; ++i) {
    machine->packages.push_back(Package{i, "simulated"});
  }
  for (std::uint32_t i = 0; i < numa_nodes; ++i) {
    NumaNode numa;
    numa.os_index = i;
    numa.memory = Bytes(machine->memory.value() / numa_nodes);
    machine->numa_nodes.push_back(numa);
    machine->l3_caches.push_back(L3Cache{{}, kMebibyte * 32, i / numa_each});
    machine->dies.push_back(Die{i, i / numa_each, {}});
  }
  for (std::uint32_t i = 0; i < cores; ++i) {
    Core core;
    core.os_index = i;
    // The second threads of all cores come after the first ones, as kernels count them.
    for (std::uint32_t thread = 0; thread < per_core; ++thread) {
      core.cpus.Insert(i + thread * cores);
    }
    const std::uint32_t numa = i * numa_nodes / cores;
    core.numa = knows_numa ? numa : kNowhere;
    core.l3 = knows_caches ? numa : kNowhere;
    core.package = numa / numa_each;
    machine->l3_caches[numa].cpus |= core.cpus;
    machine->numa_nodes[numa].cpus |= core.cpus;
    machine->dies[numa].cpus |= core.cpus;
    machine->cores.push_back(core);
  }
  if (!knows_numa) {
    machine->numa_nodes.clear();
  }
  if (!knows_caches) {
    machine->l3_caches.clear();
  }
  if (!knows_dies) {
    machine->dies.clear();
  }
}

// As NVIDIA's tables have them for an H100 of 80 GB.
std::vector<MigProfile> MigProfiles() {
  const auto at = [](std::initializer_list<std::uint32_t> starts, std::uint32_t size) {
    std::vector<MigPlacement> placements;
    for (const std::uint32_t start : starts) {
      placements.push_back(MigPlacement{start, size});
    }
    return placements;
  };
  return {{"1g.10gb", 19, 1, 7, kGibibyte * 10, at({0, 1, 2, 3, 4, 5, 6}, 1)},
          {"1g.10gb+me", 20, 1, 1, kGibibyte * 10, at({0, 1, 2, 3, 4, 5, 6}, 1)},
          {"1g.20gb", 15, 1, 4, kGibibyte * 20, at({0, 2, 4, 6}, 2)},
          {"2g.20gb", 14, 2, 3, kGibibyte * 20, at({0, 2, 4}, 2)},
          {"3g.40gb", 9, 3, 2, kGibibyte * 40, at({0, 4}, 4)},
          {"7g.80gb", 0, 7, 1, kGibibyte * 80, at({0}, 8)}};
}

std::uint32_t DrawNumaOf(const Machine& machine, RandomSequence& random) {
  const auto nodes = static_cast<std::uint32_t>(machine.numa_nodes.size());
  return nodes == 0 || Chance(random, 50) ? kNowhere : Draw(random, nodes);
}

void AddGpuKinds(std::uint32_t gpus, RandomSequence& random, Machine* machine) {
  constexpr const char* kModels[] = {"NVIDIA H100 80GB HBM3", "NVIDIA A40", "AMD Instinct MI210"};
  const std::uint32_t first = Chance(random, 400) ? 0 : Draw(random, std::size(kModels));
  const bool mixed = Chance(random, 150);
  const bool divisible = Chance(random, 700);
  for (std::uint32_t i = 0; i < gpus; ++i) {
    const std::uint32_t kind = mixed ? Draw(random, std::size(kModels)) : first;
    Gpu gpu;
    gpu.os_index = i;
    gpu.uuid = absl::StrCat("GPU-", i);
    gpu.model = kModels[kind];
    gpu.memory = kGibibyte * (kind == 0 ? 80 : kind == 1 ? 48 : 64);
    gpu.vendor = kind == 2 ? GpuVendor::kAmd : GpuVendor::kNvidia;
    gpu.numa = DrawNumaOf(*machine, random);
    if (kind == 0 && divisible) {
      machine->mig.push_back(MigGpu{gpu, MigProfiles()});
    }
    machine->gpus.push_back(std::move(gpu));
  }
}

// Pairs joined by NVLinks, the rest by what stands between them; of some nothing is said.
void AddLinks(RandomSequence& random, Machine* machine) {
  const auto gpus = static_cast<std::uint32_t>(machine->gpus.size());
  const bool all = Chance(random, 300);
  for (std::uint32_t a = 0; a < gpus; ++a) {
    for (std::uint32_t b = a + 1; b < gpus; ++b) {
      if (Chance(random, 200)) {
        continue;
      }
      DeviceLink link{a, b, LinkKind::kNvLink, Draw(random, 19), 0};
      if (!all && a / 2 != b / 2) {
        link.kind = static_cast<LinkKind>(1 + Draw(random, 5));
        link.lanes = 0;
      } else if (Chance(random, 500)) {
        link.bandwidth = 25'000 * std::max(link.lanes, 1U);
      }
      machine->gpu_links.push_back(link);
    }
  }
  const std::uint32_t nics = Draw(random, 4);
  for (std::uint32_t i = 0; i < nics; ++i) {
    machine->nics.push_back(
        Nic{absl::StrCat("mlx5_", i), "", DrawNumaOf(*machine, random), Chance(random, 800)});
  }
  for (std::uint32_t a = 0; a < gpus; ++a) {
    for (std::uint32_t b = 0; b < nics; ++b) {
      if (!Chance(random, 300)) {
        machine->nic_links.push_back(
            DeviceLink{a, b, static_cast<LinkKind>(1 + Draw(random, 5)), 0, 0});
      }
    }
  }
}

// A tree of one, two or three levels, in which some links are said to be slow.
void AddSwitches(std::uint32_t nodes, RandomSequence& random, Network* network) {
  const auto speed = [&random] {
    return Chance(random, 300) ? LinkSpeed() : LinkSpeed{12'500ULL * (1 + Draw(random, 4)), 600};
  };
  const std::uint32_t leaves = 1 + Draw(random, std::max(nodes, 1U));
  const bool dragonfly = Chance(random, 200);
  const std::uint32_t middles = leaves > 2 && Chance(random, 400) ? 2 : 0;
  const bool joined = leaves > 1 && !Chance(random, 100);
  const std::uint32_t top_level = middles > 0 ? 2 : 1;
  if (joined) {
    network->switches.push_back(
        {"top", dragonfly ? SwitchKind::kRoot : SwitchKind::kSwitch, kNowhere, top_level, speed()});
  }
  const std::uint32_t top = joined ? 0 : kNowhere;
  const auto first_middle = static_cast<std::uint32_t>(network->switches.size());
  for (std::uint32_t i = 0; i < middles; ++i) {
    network->switches.push_back({absl::StrCat("row", i),
                                 dragonfly ? SwitchKind::kGroup : SwitchKind::kSwitch, top, 1,
                                 speed()});
  }
  const auto first_leaf = static_cast<std::uint32_t>(network->switches.size());
  for (std::uint32_t i = 0; i < leaves; ++i) {
    network->switches.push_back({absl::StrCat("leaf", i), SwitchKind::kSwitch,
                                 middles > 0 ? first_middle + i % middles : top, 0, speed()});
  }
  for (NetworkNode& node : network->nodes) {
    node.leaf = Chance(random, 30) ? kNowhere : first_leaf + Draw(random, leaves);
  }
}

}  // namespace

Machine DrawMachine(std::uint32_t threads, std::uint32_t per_core, std::uint32_t gpus,
                    RandomSequence& random) {
  Machine machine;
  machine.memory = kGibibyte * 16;
  machine.source = "simulated";
  machine.enforced = Chance(random, 500);
  machine.why_not_enforced = machine.enforced ? "" : "the machine is simulated";
  AddCores(threads, per_core, random, &machine);
  AddGpuKinds(gpus == 0 || Chance(random, 200) ? 0 : 1 + Draw(random, gpus), random, &machine);
  AddLinks(random, &machine);
  if (Chance(random, 700)) {
    machine.tmp = kGibibyte * 100;
  }
  if (Chance(random, 700)) {
    machine.gres = {{"hugepages-2M", 64}, {"scratch", 4}};
  }
  if (Chance(random, 300)) {
    machine.mps = "/run/mps";
  }
  return machine;
}

Network DrawNetwork(std::uint32_t nodes, RandomSequence& random) {
  Network network;
  network.source = "drawn";
  const std::uint32_t known = nodes > 1 && Chance(random, 100) ? nodes - 1 : nodes;
  for (std::uint32_t i = 1; i <= known; ++i) {
    network.nodes.push_back(NetworkNode{absl::StrCat("node", i), kNowhere, kNowhere, kNowhere});
  }
  if (!Chance(random, 150)) {
    AddSwitches(nodes, random, &network);
  }
  const bool blocks = Chance(random, 400);
  const bool domains = Chance(random, 400);
  for (std::uint32_t i = 0; i < known; ++i) {
    if (blocks) {
      network.nodes[i].block = i / 2;
    }
    if (domains && !Chance(random, 100)) {
      network.nodes[i].domain = i % 2;
    }
  }
  for (std::uint32_t i = 0; blocks && i < (known + 1) / 2; ++i) {
    network.blocks.push_back(NetworkGroup{absl::StrCat("block", i), {}});
  }
  if (blocks) {
    network.block_sizes = {2, 4};
  }
  for (std::uint32_t i = 0; domains && i < 2; ++i) {
    network.nvlink_domains.push_back(NetworkGroup{absl::StrCat("domain", i), {450'000, 500}});
  }
  return network;
}

}  // namespace muster::sim

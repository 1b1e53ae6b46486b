#include "tests/bench/swarm/swarm_machine.h"

#include "absl/strings/str_cat.h"

namespace muster::swarm {

Machine MakeMachine(std::uint32_t cores, std::uint32_t gpus) {
  constexpr std::uint32_t kPackages = 2;
  constexpr Bytes kMemoryOfPackage(std::uint64_t{512} << 30U);
  constexpr Bytes kCache(std::uint64_t{64} << 20U);
  constexpr Bytes kGpuMemory(std::uint64_t{80} << 30U);
  Machine machine;
  for (std::uint32_t package = 0; package < kPackages; ++package) {
    machine.packages.push_back(Package{package, "made for a swarm"});
    CpuSet cpus;
    for (std::uint32_t core = package * cores / kPackages; core < (package + 1) * cores / kPackages;
         ++core) {
      CpuSet own;
      own.Insert(core);
      cpus.Insert(core);
      machine.cores.push_back(Core{core, own, package, package, package});
    }
    machine.numa_nodes.push_back(NumaNode{package, cpus, kMemoryOfPackage});
    machine.l3_caches.push_back(L3Cache{cpus, kCache, package});
    machine.memory += kMemoryOfPackage;
  }
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
    Gpu made;
    made.os_index = gpu;
    made.uuid = absl::StrCat("GPU-swarm-", gpu);
    made.model = "H100";
    made.memory = kGpuMemory;
    made.numa = gpu * kPackages / gpus;
    machine.gpus.push_back(made);
  }
  machine.source = "swarm";
  machine.enforced = false;
  machine.why_not_enforced = "nothing is launched";
  return machine;
}

}  // namespace muster::swarm

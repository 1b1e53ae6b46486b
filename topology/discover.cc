#include "topology/discover.h"

#include <sched.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/model/machine/machine_check.h"
#include "topology/gpu/cuda_mps.h"
#include "topology/gpu/libraries.h"
#include "topology/gpu/live_gpus.h"
#include "topology/hwloc/hwloc_topology.h"
#include "topology/hwloc/inventory.h"
#include "topology/hwloc/memory_capacity.h"

namespace muster::topology {
namespace {

// The threads on which the kernel lets the calling thread run.
absl::StatusOr<CpuSet> ReadAffinity() {
  for (std::size_t limit = 1024; limit <= Bits::kLimit; limit *= 2) {
    std::vector<cpu_set_t> mask(limit / CPU_SETSIZE);
    const std::size_t bytes = mask.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, mask.data()) == 0) {
      CpuSet cpus;
      for (std::uint32_t cpu = 0; cpu < limit; ++cpu) {
        if (CPU_ISSET_S(cpu, bytes, mask.data())) {
          cpus.Insert(cpu);
        }
      }
      return cpus;
    }
    if (errno != EINVAL) {  // EINVAL: the kernel's masks are longer than ours
      break;
    }
  }
  return absl::InternalError(
      absl::StrCat("sched_getaffinity: ", std::system_category().message(errno)));
}

// MemTotal counts every NUMA node: it says nothing about us where our control group allows only
// some of them.
MemoryReadings ReadMemoryFor(const HwlocTopology& topology) {
  MemoryReadings readings = ReadMemory();
  hwloc_const_nodeset_t present = hwloc_topology_get_complete_nodeset(topology.get());
  hwloc_const_nodeset_t allowed = hwloc_topology_get_allowed_nodeset(topology.get());
  if (hwloc_bitmap_isincluded(present, allowed) == 0) {
    readings.total.reset();
  }
  return readings;
}

}  // namespace

Bytes TmpSize() {
  struct statvfs found = {};
  if (statvfs("/tmp", &found) != 0) {
    return {};
  }
  const std::uint64_t bytes = std::uint64_t{found.f_blocks} * found.f_frsize;
  return kGibibyte * (bytes / kGibibyte.value());
}

absl::StatusOr<Machine> DiscoverMachine() {
  ASSIGN_OR_RETURN(const HwlocTopology topology, HwlocTopology::LoadLive());
  ASSIGN_OR_RETURN(const CpuSet affinity, ReadAffinity());
  ASSIGN_OR_RETURN(Machine machine, TakeInventory(topology, affinity));
  machine.source = "live";
  const std::uint32_t usable = AllCpus(machine).Count();
  const int all = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_PU);
  if (static_cast<int>(usable) < all) {
    machine.remarks.push_back(absl::StrCat("this process may run on ", usable, " of ", all,
                                           " hardware threads (affinity)"));
  }
  SettleMemory(ReadMemoryFor(topology), machine);
  AddLiveGpus(topology, ListGpus(), machine);
  machine.tmp = TmpSize();
  const std::string pipes = MpsPipeDirectory();
  machine.mps = MpsRunsIn(pipes) ? pipes : "";
  if (const absl::Status safe = CheckMpsDirectory(pipes); absl::IsPermissionDenied(safe)) {
    machine.remarks.push_back(absl::StrCat("CUDA MPS is not used: ", std::string(safe.message())));
  }
  RETURN_IF_ERROR(CheckMachine(machine));
  return machine;
}

}  // namespace muster::topology

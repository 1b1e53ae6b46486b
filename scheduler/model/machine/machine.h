#pragma once

// A machine's topology as a value: what discovery found, or what a captured file says.
//
// Made by topology/, read by the core; knows nothing of the operating system that made it.
// Thread promise: plain values, immutable once registered. Invariants: (1) cores are sorted by
// their first thread and every thread belongs to exactly one core; (2) `numa`, `l3` and `package`
// are positions in the vectors of this machine or kNowhere; (3) `os_index` is what the kernel and
// the tools call the object; (4) a pair of devices has one link at most, and links are sorted by
// (a, b).

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/machine/device_link.h"
#include "scheduler/model/machine/mig.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/gres.h"
#include "scheduler/model/value/index_set.h"
#include "scheduler/model/value/units.h"

namespace muster {

inline constexpr std::uint32_t kNowhere = 0xffffffff;

struct Package {
  std::uint32_t os_index = 0;
  std::string model;
  static constexpr auto Fields(auto list) {
    return list(Field{"os_index", &Package::os_index}, Field{"model", &Package::model});
  }
  friend bool operator==(const Package&, const Package&) = default;
};

// A package's part with cores of its own, where it has several.
struct Die {
  std::uint32_t os_index = 0;
  std::uint32_t package = kNowhere;
  CpuSet cpus;
  static constexpr auto Fields(auto list) {
    return list(Field{"os_index", &Die::os_index}, Field{"package", &Die::package},
                Field{"cpus", &Die::cpus});
  }
  friend bool operator==(const Die&, const Die&) = default;
};

struct NumaNode {
  std::uint32_t os_index = 0;
  CpuSet cpus;   // empty for memory-only nodes
  Bytes memory;  // what jobs may use of it
  static constexpr auto Fields(auto list) {
    return list(Field{"os_index", &NumaNode::os_index}, Field{"cpus", &NumaNode::cpus},
                Field{"memory", &NumaNode::memory});
  }
  friend bool operator==(const NumaNode&, const NumaNode&) = default;
};

struct L3Cache {
  CpuSet cpus;
  Bytes size;
  std::uint32_t package = kNowhere;
  static constexpr auto Fields(auto list) {
    return list(Field{"cpus", &L3Cache::cpus}, Field{"size", &L3Cache::size},
                Field{"package", &L3Cache::package});
  }
  friend bool operator==(const L3Cache&, const L3Cache&) = default;
};

struct Core {
  std::uint32_t os_index = 0;
  CpuSet cpus;  // its hardware threads
  std::uint32_t numa = kNowhere;
  std::uint32_t l3 = kNowhere;
  std::uint32_t package = kNowhere;
  static constexpr auto Fields(auto list) {
    return list(Field{"os_index", &Core::os_index}, Field{"cpus", &Core::cpus},
                Field{"numa", &Core::numa}, Field{"l3", &Core::l3},
                Field{"package", &Core::package});
  }
  friend bool operator==(const Core&, const Core&) = default;
};

enum class GpuVendor : std::uint8_t {
  kNvidia = 0,
  kAmd = 1,
};

// A GPU, or an instance of one that is divided by MIG: each instance is a GPU of its own.
struct Gpu {
  std::uint32_t os_index = 0;  // the driver's device number
  std::string uuid;
  std::string model;
  std::string pci_address;
  Bytes memory;
  std::uint32_t numa = kNowhere;
  GpuVendor vendor = GpuVendor::kNvidia;
  std::string instance;  // "1g.10gb", the profile of a MIG instance; empty: a whole GPU
  std::string parent;    // of an instance: the UUID of the GPU that is divided
  // An instance where Muster divides GPUs: for jobs that name its profile alone. Its controller
  // says so.
  bool by_name = false;
  static constexpr auto Fields(auto list) {
    return list(Field{"os_index", &Gpu::os_index}, Field{"uuid", &Gpu::uuid},
                Field{"model", &Gpu::model}, Field{"pci_address", &Gpu::pci_address},
                Field{"memory", &Gpu::memory}, Field{"numa", &Gpu::numa},
                Field{"vendor", &Gpu::vendor}, Field{"instance", &Gpu::instance},
                Field{"parent", &Gpu::parent}, Field{"by_name", &Gpu::by_name});
  }
  friend bool operator==(const Gpu&, const Gpu&) = default;
};

// A GPU that MIG can divide, whether it is divided now or not.
struct MigGpu {
  Gpu whole;  // as it is undivided
  std::vector<MigProfile> profiles;
  static constexpr auto Fields(auto list) {
    return list(Field{"whole", &MigGpu::whole}, Field{"profiles", &MigGpu::profiles});
  }
  friend bool operator==(const MigGpu&, const MigGpu&) = default;
};

struct Nic {
  std::string name;
  std::string pci_address;
  std::uint32_t numa = kNowhere;
  bool fabric = false;  // an OpenFabrics device: what UCX and NCCL call by this name
  static constexpr auto Fields(auto list) {
    return list(Field{"name", &Nic::name}, Field{"pci_address", &Nic::pci_address},
                Field{"numa", &Nic::numa}, Field{"fabric", &Nic::fabric});
  }
  friend bool operator==(const Nic&, const Nic&) = default;
};

struct Machine {
  std::vector<Package> packages;
  std::vector<NumaNode> numa_nodes;
  std::vector<L3Cache> l3_caches;
  std::vector<Core> cores;
  std::vector<Gpu> gpus;
  std::vector<Nic> nics;
  Bytes memory;  // what jobs may use in all; at least the sum over the NUMA nodes that say a size
  std::string source;    // "live", or the file or synthetic string it was read from
  bool enforced = true;  // false when an agent plays a machine that it is not
  std::string why_not_enforced;
  std::vector<std::string> remarks;   // what discovery could not read or found to be contradictory
  std::vector<DeviceLink> gpu_links;  // between GPUs; a pair that is not there: not known
  std::vector<DeviceLink> nic_links;  // between a GPU and a NIC
  std::vector<Die> dies;              // of packages that have several
  std::string mps;          // the pipe directory of CUDA's MPS daemon, where one runs; empty: none
  std::string limits;       // what its agent holds jobs to: "cpuset, memory", "not enforced (why)"
  Bytes tmp;                // the file system of /tmp, in all; zero: not known
  GresList gres;            // countable things, as its agent declares them
  std::vector<MigGpu> mig;  // as its agent declares them; a controller keeps those it may divide
  static constexpr auto Fields(auto list) {
    return list(Field{"packages", &Machine::packages}, Field{"numa_nodes", &Machine::numa_nodes},
                Field{"l3_caches", &Machine::l3_caches}, Field{"cores", &Machine::cores},
                Field{"gpus", &Machine::gpus}, Field{"nics", &Machine::nics},
                Field{"memory", &Machine::memory}, Field{"source", &Machine::source},
                Field{"enforced", &Machine::enforced},
                Field{"why_not_enforced", &Machine::why_not_enforced},
                Field{"remarks", &Machine::remarks}, Field{"gpu_links", &Machine::gpu_links},
                Field{"nic_links", &Machine::nic_links}, Field{"dies", &Machine::dies},
                Field{"mps", &Machine::mps}, Field{"limits", &Machine::limits},
                Field{"tmp", &Machine::tmp}, Field{"gres", &Machine::gres},
                Field{"mig", &Machine::mig});
  }
  friend bool operator==(const Machine&, const Machine&) = default;
};

// Every hardware thread of the machine.
inline CpuSet AllCpus(const Machine& machine) {
  CpuSet all;
  for (const Core& core : machine.cores) {
    all |= core.cpus;
  }
  return all;
}

}  // namespace muster

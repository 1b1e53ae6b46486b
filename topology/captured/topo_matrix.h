#pragma once

// The table that `nvidia-smi topo -m` prints: how GPUs and NICs are joined, and which threads and
// NUMA node each GPU is near.
//
// A table tells links and places, and nothing of cores, caches, memory or models: it joins a
// machine that another capture describes, or stands for a machine of its own. Invariants: a table
// is returned whole or not at all; links are those of both directions.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/model/machine/machine.h"

namespace muster::topology {

struct TopoMatrix {
  struct GpuRow {
    std::uint32_t number = 0;           // nvidia-smi's
    CpuSet cpus;                        // "CPU Affinity"; empty: not given
    std::optional<std::uint32_t> numa;  // "NUMA Affinity"; not when it names none or several
  };
  std::string source;
  std::vector<GpuRow> gpus;
  std::vector<std::string> nics;      // by their names, where a NIC legend gives them
  std::vector<DeviceLink> gpu_links;  // positions in `gpus`
  std::vector<DeviceLink> nic_links;
  std::vector<std::string> remarks;  // where the two directions of a pair differ, and the like
};

// True when `text` begins as such a table does.
bool IsTopoMatrix(const std::string& text);

// InvalidArgument "NAME:LINE: …" for a cell, row or column that cannot be read or is missing. An
// NVLink counts 25 GB/s a lane, as generations 2 to 4 have; JoinTopoMatrix knows better by model.
absl::StatusOr<TopoMatrix> ParseTopoMatrix(const std::string& text, const std::string& name);

// The links of the table in place of the machine's own; its GPU number N is GPU N there. NICs are
// joined by name, and added when the machine has none. What contradicts the machine becomes a
// remark, and the machine stands; InvalidArgument for a GPU near a NUMA node that it has not.
absl::Status JoinTopoMatrix(const TopoMatrix& matrix, Machine& machine);

// A machine of the table alone: its NUMA nodes and threads, each of these a core, because the table
// does not say which share one. InvalidArgument when no GPU says its threads.
absl::StatusOr<Machine> MachineOf(const TopoMatrix& matrix);

// MB/s in one direction of one NVLink lane of a GPU of that model (NVIDIA's data sheets: 20 of
// Pascal, 25 of Volta, Ampere and Hopper, 50 of Blackwell, in GB/s).
std::uint64_t NvLinkLaneBandwidth(const std::string& model);

}  // namespace muster::topology

#pragma once

// The part of ROCm SMI's ABI that we use, and one loaded library of it. Debian's headers of it are
// in no package that we need; names and values are those of AMD's "ROCm SMI API reference".
//
// Thread promise: one thread at a time. Invariant: the library is initialised between a Start that
// went well and the end of the object.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/loaded_library.h"

namespace muster::topology::rocm {

using Status = int;
inline constexpr Status kSuccess = 0;   // RSMI_STATUS_SUCCESS
inline constexpr int kVideoMemory = 0;  // RSMI_MEM_TYPE_VRAM
inline constexpr int kXgmi = 2;         // RSMI_IOLINK_TYPE_XGMI
// rsmi_temperature_type_t; where a GPU has no sensor at its edge it has one at its junction.
inline constexpr std::uint32_t kEdge = 0;
inline constexpr std::uint32_t kJunction = 1;
inline constexpr int kCurrentTemperature = 0;  // RSMI_TEMP_CURRENT
// rsmi_gpu_block_t: a bit for each part of a GPU that counts errors.
inline constexpr std::uint64_t kFirstBlock = 1;
inline constexpr std::uint64_t kLastBlock = 1U << 13U;

struct ErrorCount {  // rsmi_error_count_t
  std::uint64_t correctable;
  std::uint64_t uncorrectable;
  std::array<std::uint64_t, 6> later;  // room for what a newer library adds
};

// What measures GPUs; each may be absent. The first argument is a device's number.
struct MeterCalls {
  void FindIn(const LoadedLibrary& library) {
    library.Find("rsmi_dev_memory_usage_get", memory_used);
    library.Find("rsmi_dev_busy_percent_get", busy);
    library.Find("rsmi_dev_memory_busy_percent_get", memory_busy);
    library.Find("rsmi_dev_power_get", power);
    library.Find("rsmi_dev_power_ave_get", average_power);
    library.Find("rsmi_dev_energy_count_get", energy);
    library.Find("rsmi_dev_temp_metric_get", temperature);
    library.Find("rsmi_dev_ecc_count_get", errors);
  }
  Status (*memory_used)(std::uint32_t, int, std::uint64_t*) = nullptr;
  Status (*busy)(std::uint32_t, std::uint32_t*) = nullptr;
  Status (*memory_busy)(std::uint32_t, std::uint32_t*) = nullptr;
  Status (*power)(std::uint32_t, std::uint64_t*, int*) = nullptr;  // uW; from 6.0 on
  Status (*average_power)(std::uint32_t, std::uint32_t, std::uint64_t*) = nullptr;
  // Of a counter, its unit in uJ and the time.
  Status (*energy)(std::uint32_t, std::uint64_t*, float*, std::uint64_t*) = nullptr;
  Status (*temperature)(std::uint32_t, std::uint32_t, int, std::int64_t*) = nullptr;  // mC
  Status (*errors)(std::uint32_t, std::uint64_t, ErrorCount*) = nullptr;
};

struct ProcessInfo {  // rsmi_process_info_t, from ROCm 5.0 on
  std::uint32_t pid;
  std::uint32_t pasid;
  std::uint64_t video_memory;  // bytes, over all its GPUs
  std::uint64_t sdma_usage;
  std::uint32_t cu_occupancy;
};

// Which processes have a context on GPUs; each may be absent.
struct ProcessCalls {
  void FindIn(const LoadedLibrary& library) {
    library.Find("rsmi_compute_process_info_get", list);
    library.Find("rsmi_compute_process_gpus_get", devices);
  }
  Status (*list)(ProcessInfo*, std::uint32_t*) = nullptr;
  // Of a process; the last argument is how many there is room for, then how many there are.
  Status (*devices)(std::uint32_t, std::uint32_t*, std::uint32_t*) = nullptr;
};

// One loaded ROCm SMI: its entry points, and its initialised state for as long as the object lives.
class RocmSmi {
 public:
  explicit RocmSmi(const std::string& library) : library_(library) {
    if (!library_.loaded()) {
      return;
    }
    library_.Need("rsmi_init", init_);
    library_.Need("rsmi_shut_down", shut_down_);
    library_.Need("rsmi_status_string", status_string_);
    library_.Need("rsmi_num_monitor_devices", count);
    library_.Need("rsmi_dev_name_get", name);
    library_.Need("rsmi_dev_memory_total_get", memory);
    library_.Need("rsmi_dev_pci_id_get", pci);
    library_.Find("rsmi_dev_unique_id_get", unique_id);  // these may be absent
    library_.Find("rsmi_dev_partition_id_get", partition);
    library_.Find("rsmi_topo_get_numa_node_number", numa);
    library_.Find("rsmi_topo_get_link_type", link_type);
    library_.Find("rsmi_minmax_bandwidth_get", bandwidth);
    meter.FindIn(library_);
    processes.FindIn(library_);
  }
  RocmSmi(const RocmSmi&) = delete;
  RocmSmi& operator=(const RocmSmi&) = delete;
  ~RocmSmi() {
    if (started_) {
      shut_down_();
    }
  }

  [[nodiscard]] bool loaded() const { return library_.loaded(); }

  // "" when the library is ready for use, else why not.
  std::string Start() {
    if (!library_.missing().empty()) {
      return absl::StrCat("it has no ", library_.missing());
    }
    const Status status = init_(0);
    started_ = status == kSuccess;
    return started_ ? "" : Explain(status);
  }

  [[nodiscard]] std::string Explain(Status status) const {
    const char* text = nullptr;
    return status_string_(status, &text) == kSuccess && text != nullptr
               ? text
               : absl::StrCat("error ", status);
  }

  // The entry points, as the library has them; the first argument is a device's number.
  Status (*count)(std::uint32_t*) = nullptr;
  Status (*name)(std::uint32_t, char*, std::size_t) = nullptr;
  Status (*memory)(std::uint32_t, int, std::uint64_t*) = nullptr;
  Status (*pci)(std::uint32_t, std::uint64_t*) = nullptr;
  Status (*unique_id)(std::uint32_t, std::uint64_t*) = nullptr;
  Status (*partition)(std::uint32_t, std::uint32_t*) = nullptr;
  Status (*numa)(std::uint32_t, std::uint32_t*) = nullptr;
  Status (*link_type)(std::uint32_t, std::uint32_t, std::uint64_t*, int*) = nullptr;
  Status (*bandwidth)(std::uint32_t, std::uint32_t, std::uint64_t*, std::uint64_t*) = nullptr;
  MeterCalls meter;
  ProcessCalls processes;

 private:
  LoadedLibrary library_;
  bool started_ = false;
  Status (*init_)(std::uint64_t) = nullptr;
  Status (*shut_down_)() = nullptr;
  Status (*status_string_)(Status, const char**) = nullptr;
};

}  // namespace muster::topology::rocm

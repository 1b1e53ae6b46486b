#pragma once

// The part of NVML's ABI that we use, and one loaded library of it. Debian has no nvml.h; names and
// layouts are those of NVIDIA's "NVML API Reference", version 2 and up.
//
// Thread promise: one thread at a time. Invariant: NVML is initialised between a Start that went
// well and the end of the object.

#include <array>
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/loaded_library.h"

namespace muster::topology::nvml {

using Result = int;
inline constexpr Result kSuccess = 0;
using Device = struct OpaqueNvmlDevice*;

struct PciInfo {
  std::array<char, 16> bus_id_legacy;
  unsigned int domain;
  unsigned int bus;
  unsigned int device;
  unsigned int pci_device_id;
  unsigned int pci_subsystem_id;
  std::array<char, 32> bus_id;
};

struct MemoryInfo {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct MemoryInfoV2 {  // nvmlMemory_v2_t
  unsigned int version;
  unsigned long long total;
  unsigned long long reserved;  // for the driver, which the first version counts as used
  unsigned long long free;
  unsigned long long used;
};
inline constexpr unsigned int kMemoryVersion2 = sizeof(MemoryInfoV2) | (2U << 24);

struct Attributes {  // nvmlDeviceAttributes_t
  unsigned int multiprocessors;
  unsigned int copy_engines;
  unsigned int decoders;
  unsigned int encoders;
  unsigned int jpeg_decoders;
  unsigned int optical_flow_units;
  unsigned int gpu_slices;
  unsigned int compute_slices;
  unsigned long long memory_mib;
};

struct Utilization {  // per cent
  unsigned int gpu;
  unsigned int memory;
};

using EventSet = struct OpaqueNvmlEventSet*;
inline constexpr unsigned long long kXidError = 8;  // nvmlEventTypeXidCriticalError
struct EventData {                                  // nvmlEventData_t
  Device device;
  unsigned long long type;
  unsigned long long data;  // of an XID error: its number
  unsigned int gpu_instance;
  unsigned int compute_instance;
};

// GPU performance monitoring (GPM), from Hopper on: what hardware counters did between two samples.
using GpmSample = struct OpaqueNvmlGpmSample*;
struct GpmSupport {  // nvmlGpmSupport_t
  unsigned int version;
  unsigned int supported;
};
struct GpmMetric {  // nvmlGpmMetric_t
  unsigned int id;
  Result result;
  double value;
  struct {
    const char* short_name;
    const char* long_name;
    const char* unit;
  } info;
};
// nvmlGpmMetricId_t; shares in per cent, traffic in MiB a second.
inline constexpr unsigned int kGpmSmUtil = 2;
inline constexpr unsigned int kGpmAnyTensorUtil = 5;
inline constexpr unsigned int kGpmDramBandwidthUtil = 10;
inline constexpr unsigned int kGpmPcieTx = 20;
inline constexpr unsigned int kGpmPcieRx = 21;
inline constexpr unsigned int kGpmNvLinkRx = 60;
inline constexpr unsigned int kGpmNvLinkTx = 61;
// NVML_GPM_METRIC_MAX has grown from 98 to 333: room for more than NVML will look at, which is
// `count`.
inline constexpr std::size_t kGpmMetricMax = 512;
struct GpmMetricsGet {  // nvmlGpmMetricsGet_t
  unsigned int version;
  unsigned int count;
  GpmSample before;
  GpmSample after;
  std::array<GpmMetric, kGpmMetricMax> metrics;
};
inline constexpr unsigned int kGpmVersion = 1;  // NVML_GPM_SUPPORT_VERSION, ..._METRICS_GET_VERSION

struct GpmCalls {
  void FindIn(const LoadedLibrary& library) {
    library.Find("nvmlGpmQueryDeviceSupport", support);
    library.Find("nvmlGpmSampleAlloc", make_sample);
    library.Find("nvmlGpmSampleFree", free_sample);
    library.Find("nvmlGpmSampleGet", take_sample);
    library.Find("nvmlGpmMetricsGet", metrics);
  }
  [[nodiscard]] bool complete() const {
    return support != nullptr && make_sample != nullptr && free_sample != nullptr &&
           take_sample != nullptr && metrics != nullptr;
  }
  Result (*support)(Device, GpmSupport*) = nullptr;
  Result (*make_sample)(GpmSample*) = nullptr;
  Result (*free_sample)(GpmSample) = nullptr;
  Result (*take_sample)(Device, GpmSample) = nullptr;
  Result (*metrics)(GpmMetricsGet*) = nullptr;
};

// What tells errors of GPUs; each may be absent.
struct ErrorCalls {
  void FindIn(const LoadedLibrary& library) {
    library.Find("nvmlDeviceGetTotalEccErrors", ecc);
    library.Find("nvmlEventSetCreate", make_events);
    library.Find("nvmlEventSetFree", free_events);
    library.Find("nvmlDeviceRegisterEvents", register_events);
    library.Find("nvmlEventSetWait_v2", wait_event);
  }
  Result (*ecc)(Device, int, int, unsigned long long*) = nullptr;
  Result (*make_events)(EventSet*) = nullptr;
  Result (*free_events)(EventSet) = nullptr;
  Result (*register_events)(Device, unsigned long long, EventSet) = nullptr;
  Result (*wait_event)(EventSet, EventData*, unsigned int) = nullptr;
};

// What a GPU takes; each may be absent.
struct PowerCalls {
  void FindIn(const LoadedLibrary& library) {
    library.Find("nvmlDeviceGetTotalEnergyConsumption", energy);  // Volta and later
    library.Find("nvmlDeviceGetPowerUsage", now);
    library.Find("nvmlDeviceGetTemperature", temperature);
  }
  Result (*energy)(Device, unsigned long long*) = nullptr;      // mJ
  Result (*now)(Device, unsigned int*) = nullptr;               // mW
  Result (*temperature)(Device, int, unsigned int*) = nullptr;  // of a sensor, in degrees Celsius
};

// How fast a GPU's multiprocessors and links are; each may be absent.
struct PaceCalls {
  void FindIn(const LoadedLibrary& library) {
    library.Find("nvmlDeviceGetClockInfo", clock);
    library.Find("nvmlDeviceGetMaxClockInfo", most);
    library.Find("nvmlDeviceGetCurrentClocksEventReasons", reasons);  // drivers from 535 on
    if (reasons == nullptr) {
      library.Find("nvmlDeviceGetCurrentClocksThrottleReasons", reasons);
    }
    library.Find("nvmlDeviceGetCurrPcieLinkGeneration", pcie_generation);
    library.Find("nvmlDeviceGetCurrPcieLinkWidth", pcie_lanes);
  }
  Result (*clock)(Device, int, unsigned int*) = nullptr;     // MHz
  Result (*most)(Device, int, unsigned int*) = nullptr;      // MHz
  Result (*reasons)(Device, unsigned long long*) = nullptr;  // a set of kReason…
  Result (*pcie_generation)(Device, unsigned int*) = nullptr;
  Result (*pcie_lanes)(Device, unsigned int*) = nullptr;
};
// nvmlProcessInfo_t of the second version of these calls and of those behind it.
struct ProcessInfo {
  unsigned int pid;
  unsigned long long memory;  // kUnknownMemory: it cannot tell
  unsigned int gpu_instance;
  unsigned int compute_instance;
};
inline constexpr unsigned long long kUnknownMemory = ~0ULL;

// Which processes have a context on a GPU, to compute or to draw; each may be absent.
struct ProcessCalls {
  using List = Result (*)(Device, unsigned int*, ProcessInfo*);
  void FindIn(const LoadedLibrary& library) {
    library.Find("nvmlDeviceGetComputeRunningProcesses_v3", computing);  // drivers from 510 on
    if (computing == nullptr) {
      library.Find("nvmlDeviceGetComputeRunningProcesses_v2", computing);
    }
    library.Find("nvmlDeviceGetGraphicsRunningProcesses_v3", drawing);
    if (drawing == nullptr) {
      library.Find("nvmlDeviceGetGraphicsRunningProcesses_v2", drawing);
    }
  }
  List computing = nullptr;
  List drawing = nullptr;
};
inline constexpr int kClockSm = 1;             // NVML_CLOCK_SM
inline constexpr unsigned int kLinksMax = 18;  // NVML_NVLINK_MAX_LINKS
// nvmlClocksEventReason…
inline constexpr unsigned long long kReasonSetting = 0x2 | 0x100;  // ApplicationsClocks, Display
inline constexpr unsigned long long kReasonPowerCap = 0x4;
inline constexpr unsigned long long kReasonHardware = 0x8;
inline constexpr unsigned long long kReasonSyncBoost = 0x10;
inline constexpr unsigned long long kReasonHeat = 0x20 | 0x40;  // by software, by hardware
inline constexpr unsigned long long kReasonPowerBrake = 0x80;

using GpuInstance = struct OpaqueNvmlGpuInstance*;
using ComputeInstance = struct OpaqueNvmlComputeInstance*;

// NVML_GPU_INSTANCE_PROFILE_COUNT and the same of compute instances have grown: a number beyond
// what the library knows is answered with "Invalid Argument".
inline constexpr unsigned int kGpuInstanceProfiles = 32;
inline constexpr unsigned int kComputeInstanceProfiles = 16;
inline constexpr unsigned int kEngineProfileShared = 0;
// No GPU has more instances, or places for one.
inline constexpr unsigned int kInstancesMax = 64;

struct GpuInstanceProfile {  // nvmlGpuInstanceProfileInfo_t
  unsigned int id;
  unsigned int p2p;
  unsigned int slices;
  unsigned int instances;
  unsigned int multiprocessors;
  unsigned int copy_engines;
  unsigned int decoders;
  unsigned int encoders;
  unsigned int jpeg_decoders;
  unsigned int optical_flow_units;
  unsigned long long memory_mib;
};

struct GpuInstanceProfileV2 {  // nvmlGpuInstanceProfileInfo_v2_t
  unsigned int version;
  unsigned int id;
  unsigned int p2p;
  unsigned int slices;
  unsigned int instances;
  unsigned int multiprocessors;
  unsigned int copy_engines;
  unsigned int decoders;
  unsigned int encoders;
  unsigned int jpeg_decoders;
  unsigned int optical_flow_units;
  unsigned long long memory_mib;
  std::array<char, 96> name;  // "MIG 1g.10gb"
};
inline constexpr unsigned int kProfileVersion2 = sizeof(GpuInstanceProfileV2) | (2U << 24);

struct Placement {  // nvmlGpuInstancePlacement_t
  unsigned int start;
  unsigned int size;
};

struct GpuInstanceInfo {  // nvmlGpuInstanceInfo_t
  Device device;
  unsigned int id;
  unsigned int profile;
  Placement placement;
};

struct ComputeInstanceProfile {  // nvmlComputeInstanceProfileInfo_t
  unsigned int id;
  unsigned int slices;
  unsigned int instances;
  unsigned int multiprocessors;
  unsigned int copy_engines;
  unsigned int decoders;
  unsigned int encoders;
  unsigned int jpeg_decoders;
  unsigned int optical_flow_units;
};

// What says how a GPU can be divided, and divides it; drivers from 470 on have all of it.
struct MigCalls {
  void FindIn(const LoadedLibrary& library) {
    library.Find("nvmlDeviceGetGpuInstanceProfileInfo", profile);
    library.Find("nvmlDeviceGetGpuInstanceProfileInfoV", profile_v2);  // from 510 on
    library.Find("nvmlDeviceGetGpuInstancePossiblePlacements_v2", placements);
    library.Find("nvmlDeviceSetMigMode", set_mode);
    library.Find("nvmlDeviceGetGpuInstances", instances);
    library.Find("nvmlGpuInstanceGetInfo", info);
    library.Find("nvmlDeviceCreateGpuInstanceWithPlacement", create);
    library.Find("nvmlGpuInstanceDestroy", destroy);
    library.Find("nvmlGpuInstanceGetComputeInstanceProfileInfo", compute_profile);
    library.Find("nvmlGpuInstanceGetComputeInstances", compute_instances);
    library.Find("nvmlGpuInstanceCreateComputeInstance", create_compute);
    library.Find("nvmlComputeInstanceDestroy", destroy_compute);
  }
  [[nodiscard]] bool tells() const { return profile != nullptr && placements != nullptr; }
  [[nodiscard]] bool divides() const {
    return tells() && set_mode != nullptr && instances != nullptr && info != nullptr &&
           create != nullptr && destroy != nullptr && compute_profile != nullptr &&
           compute_instances != nullptr && create_compute != nullptr && destroy_compute != nullptr;
  }
  Result (*profile)(Device, unsigned int, GpuInstanceProfile*) = nullptr;
  Result (*profile_v2)(Device, unsigned int, GpuInstanceProfileV2*) = nullptr;
  Result (*placements)(Device, unsigned int, Placement*, unsigned int*) = nullptr;
  Result (*set_mode)(Device, unsigned int, Result*) = nullptr;
  Result (*instances)(Device, unsigned int, GpuInstance*, unsigned int*) = nullptr;
  Result (*info)(GpuInstance, GpuInstanceInfo*) = nullptr;
  Result (*create)(Device, unsigned int, const Placement*, GpuInstance*) = nullptr;
  Result (*destroy)(GpuInstance) = nullptr;
  Result (*compute_profile)(GpuInstance, unsigned int, unsigned int,
                            ComputeInstanceProfile*) = nullptr;
  Result (*compute_instances)(GpuInstance, unsigned int, ComputeInstance*, unsigned int*) = nullptr;
  Result (*create_compute)(GpuInstance, unsigned int, ComputeInstance*) = nullptr;
  Result (*destroy_compute)(ComputeInstance) = nullptr;
};

// One loaded NVML: its entry points, and its initialised state for as long as the object lives.
class Nvml {
 public:
  explicit Nvml(const std::string& library) : library_(library) {
    if (!library_.loaded()) {
      return;
    }
    library_.Need("nvmlInit_v2", init_);
    library_.Need("nvmlShutdown", shutdown_);
    library_.Need("nvmlErrorString", error_string_);
    library_.Need("nvmlDeviceGetCount_v2", count);
    library_.Need("nvmlDeviceGetHandleByIndex_v2", handle);
    library_.Need("nvmlDeviceGetUUID", uuid);
    library_.Need("nvmlDeviceGetName", name);
    library_.Need("nvmlDeviceGetMemoryInfo", memory);
    library_.Need("nvmlDeviceGetPciInfo_v3", pci);
    library_.Find("nvmlDeviceGetMinorNumber", minor);  // these may be absent
    library_.Find("nvmlDeviceGetMemoryInfo_v2", memory_v2);
    library_.Find("nvmlDeviceGetMigMode", mig);
    library_.Find("nvmlDeviceGetMaxMigDeviceCount", mig_count);
    library_.Find("nvmlDeviceGetMigDeviceHandleByIndex", mig_handle);
    library_.Find("nvmlDeviceGetAttributes_v2", attributes);
    library_.Find("nvmlDeviceGetNvLinkState", link_state);
    library_.Find("nvmlDeviceGetNvLinkRemotePciInfo_v2", link_remote);
    library_.Find("nvmlDeviceGetP2PStatus", p2p);
    library_.Find("nvmlDeviceGetUtilizationRates", utilization);
    power.FindIn(library_);
    pace.FindIn(library_);
    processes.FindIn(library_);
    errors.FindIn(library_);
    gpm.FindIn(library_);
    division.FindIn(library_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml() {
    if (started_) {
      shutdown_();
    }
  }

  [[nodiscard]] bool loaded() const { return library_.loaded(); }

  // "" when NVML is ready for use, else why not.
  std::string Start() {
    if (!library_.missing().empty()) {
      return absl::StrCat("it has no ", library_.missing());
    }
    const Result result = init_();
    started_ = result == kSuccess;
    return started_ ? "" : Explain(result);
  }

  [[nodiscard]] std::string Explain(Result result) const {
    const char* text = error_string_(result);
    return text == nullptr ? absl::StrCat("error ", result) : text;
  }

  // Whether MIG divides the GPU.
  [[nodiscard]] bool IsDivided(Device device) const {
    unsigned int current = 0;
    unsigned int pending = 0;
    return mig != nullptr && mig(device, &current, &pending) == kSuccess && current != 0;
  }

  // The entry points, as NVML has them.
  Result (*count)(unsigned int*) = nullptr;
  Result (*handle)(unsigned int, Device*) = nullptr;
  Result (*uuid)(Device, char*, unsigned int) = nullptr;
  Result (*name)(Device, char*, unsigned int) = nullptr;
  Result (*memory)(Device, MemoryInfo*) = nullptr;
  Result (*memory_v2)(Device, MemoryInfoV2*) = nullptr;
  Result (*pci)(Device, PciInfo*) = nullptr;
  Result (*minor)(Device, unsigned int*) = nullptr;
  Result (*mig)(Device, unsigned int*, unsigned int*) = nullptr;
  Result (*mig_count)(Device, unsigned int*) = nullptr;
  Result (*mig_handle)(Device, unsigned int, Device*) = nullptr;
  Result (*attributes)(Device, Attributes*) = nullptr;
  Result (*link_state)(Device, unsigned int, unsigned int*) = nullptr;
  Result (*link_remote)(Device, unsigned int, PciInfo*) = nullptr;
  Result (*p2p)(Device, Device, int, int*) = nullptr;
  Result (*utilization)(Device, Utilization*) = nullptr;
  PowerCalls power;
  PaceCalls pace;
  ProcessCalls processes;
  ErrorCalls errors;
  GpmCalls gpm;
  MigCalls division;

 private:
  LoadedLibrary library_;
  bool started_ = false;
  Result (*init_)() = nullptr;
  Result (*shutdown_)() = nullptr;
  const char* (*error_string_)(Result) = nullptr;
};

}  // namespace muster::topology::nvml

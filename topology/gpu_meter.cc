#include "topology/gpu_meter.h"

#include <array>
#include <utility>

#include "topology/loaded_library.h"

namespace muster {
namespace {

// The part of NVML's ABI that we use here.
using Result = int;
constexpr Result kSuccess = 0;
constexpr Result kGpuIsLost = 15;
using Device = struct OpaqueNvmlDevice*;

struct MemoryInfo {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct Utilization {  // per cent
  unsigned int gpu;
  unsigned int memory;
};

class NvmlMeter final : public GpuMeter {
 public:
  explicit NvmlMeter(const std::string& library) : library_(library) {
    if (!library_.loaded()) {
      return;
    }
    library_.Need("nvmlInit_v2", init_);
    library_.Need("nvmlShutdown", shutdown_);
    library_.Need("nvmlDeviceGetCount_v2", count_);
    library_.Need("nvmlDeviceGetHandleByIndex_v2", handle_);
    library_.Need("nvmlDeviceGetUUID", uuid_);
    library_.Need("nvmlDeviceGetMemoryInfo", memory_);
    library_.Need("nvmlDeviceGetUtilizationRates", utilization_);
    library_.Find("nvmlDeviceGetTotalEnergyConsumption", energy_);  // Volta and later
  }
  ~NvmlMeter() override {
    if (started_) {
      shutdown_();
    }
  }

  // False: there is nothing to read.
  bool Start() {
    if (!library_.loaded() || !library_.missing().empty() || init_() != kSuccess) {
      return false;
    }
    started_ = true;
    unsigned int count = 0;
    if (count_(&count) != kSuccess) {
      return false;
    }
    for (unsigned int i = 0; i < count; ++i) {
      Device device = nullptr;
      std::array<char, 96> uuid{};
      if (handle_(i, &device) == kSuccess && uuid_(device, uuid.data(), uuid.size()) == kSuccess) {
        devices_.emplace_back(device, uuid.data());
      }
    }
    return !devices_.empty();
  }

  std::vector<GpuReading> Read() override {
    std::vector<GpuReading> readings;
    for (const auto& [device, uuid] : devices_) {
      GpuReading reading;
      reading.uuid = uuid;
      Utilization busy{};
      MemoryInfo memory{};
      unsigned long long energy = 0;
      const Result asked = memory_(device, &memory);
      reading.lost = asked == kGpuIsLost;
      if (asked == kSuccess) {
        reading.memory_used = Bytes(memory.used);
      }
      if (utilization_(device, &busy) == kSuccess) {  // not of a GPU that MIG divides
        reading.busy_percent = busy.gpu;
      }
      if (energy_ != nullptr && energy_(device, &energy) == kSuccess) {
        reading.energy_mj = energy;
      }
      readings.push_back(std::move(reading));
    }
    return readings;
  }

 private:
  LoadedLibrary library_;
  bool started_ = false;
  std::vector<std::pair<Device, std::string>> devices_;
  Result (*init_)() = nullptr;
  Result (*shutdown_)() = nullptr;
  Result (*count_)(unsigned int*) = nullptr;
  Result (*handle_)(unsigned int, Device*) = nullptr;
  Result (*uuid_)(Device, char*, unsigned int) = nullptr;
  Result (*memory_)(Device, MemoryInfo*) = nullptr;
  Result (*utilization_)(Device, Utilization*) = nullptr;
  Result (*energy_)(Device, unsigned long long*) = nullptr;
};

}  // namespace

std::unique_ptr<GpuMeter> GpuMeter::Open(const std::string& library) {
  if (library.empty()) {
    return nullptr;
  }
  auto meter = std::make_unique<NvmlMeter>(library);
  if (!meter->Start()) {
    return nullptr;
  }
  return meter;
}

}  // namespace muster

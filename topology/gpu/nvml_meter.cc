#include "topology/gpu/nvml_meter.h"

#include <array>
#include <utility>
#include <vector>

#include "topology/gpu/nvml.h"

namespace muster::topology {
namespace {

constexpr nvml::Result kGpuIsLost = 15;

class NvmlMeter final : public GpuMeter {
 public:
  explicit NvmlMeter(const std::string& library) : nvml_(library) {}

  // False: there is nothing to read.
  bool Start() {
    unsigned int count = 0;
    if (!nvml_.loaded() || nvml_.utilization == nullptr || !nvml_.Start().empty() ||
        nvml_.count(&count) != nvml::kSuccess) {
      return false;
    }
    for (unsigned int i = 0; i < count; ++i) {
      nvml::Device device = nullptr;
      std::array<char, 96> uuid{};
      if (nvml_.handle(i, &device) == nvml::kSuccess &&
          nvml_.uuid(device, uuid.data(), uuid.size()) == nvml::kSuccess) {
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
      nvml::Utilization busy{};
      nvml::MemoryInfo memory{};
      unsigned long long energy = 0;
      const nvml::Result asked = nvml_.memory(device, &memory);
      reading.lost = asked == kGpuIsLost;
      if (asked == nvml::kSuccess) {
        reading.memory_used = Bytes(memory.used);
      }
      // Not of a GPU that MIG divides.
      if (nvml_.utilization(device, &busy) == nvml::kSuccess) {
        reading.busy_percent = busy.gpu;
      }
      if (nvml_.energy != nullptr && nvml_.energy(device, &energy) == nvml::kSuccess) {
        reading.energy_mj = energy;
      }
      readings.push_back(std::move(reading));
    }
    return readings;
  }

 private:
  nvml::Nvml nvml_;
  std::vector<std::pair<nvml::Device, std::string>> devices_;
};

}  // namespace

std::unique_ptr<GpuMeter> OpenNvmlMeter(const std::string& file) {
  if (file.empty()) {
    return nullptr;
  }
  auto meter = std::make_unique<NvmlMeter>(file);
  if (!meter->Start()) {
    return nullptr;
  }
  return meter;
}

}  // namespace muster::topology

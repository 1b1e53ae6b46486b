#include "topology/gpu/rocm_meter.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "topology/gpu/rocm_smi.h"

namespace muster::topology {
namespace {

constexpr std::chrono::seconds kErrorsEvery{10};
constexpr std::uint32_t kListedMost = 1024;  // further ones are left out
constexpr std::uint32_t kDevicesMost = 64;   // of one process

class RocmMeter final : public GpuMeter {
 public:
  RocmMeter(const std::string& library, std::vector<Gpu> gpus)
      : rocm_(library), gpus_(std::move(gpus)) {}

  // False: there is nothing to read.
  bool Start() { return rocm_.loaded() && rocm_.Start().empty() && rocm_.meter.busy != nullptr; }

  std::vector<GpuReading> Read() override {
    std::vector<GpuReading> readings;
    const auto now = std::chrono::steady_clock::now();
    const bool again = !errors_read_.has_value() || now - *errors_read_ >= kErrorsEvery;
    errors_read_ = again ? now : errors_read_;
    for (const Gpu& gpu : gpus_) {
      const std::uint32_t device = gpu.os_index;
      GpuReading reading;
      reading.uuid = gpu.uuid;
      reading.busy_percent = Ask<std::uint32_t>(rocm_.meter.busy, device);
      reading.memory_busy_percent = Ask<std::uint32_t>(rocm_.meter.memory_busy, device);
      std::uint64_t used = 0;
      if (rocm_.meter.memory_used != nullptr &&
          rocm_.meter.memory_used(device, rocm::kVideoMemory, &used) == rocm::kSuccess) {
        reading.memory_used = Bytes(used);
      }
      reading.energy_mj = Energy(device);
      reading.power_mw = Power(device);
      reading.celsius = Temperature(device);
      AddErrors(device, again, reading);
      readings.push_back(std::move(reading));
    }
    return readings;
  }

  std::vector<GpuProcess> Processes() override {
    std::vector<GpuProcess> all;
    const rocm::ProcessCalls& calls = rocm_.processes;
    // Twice as much as it may fill: a newer library may write longer entries.
    std::vector<rocm::ProcessInfo> infos(std::size_t{2} * kListedMost);
    std::uint32_t count = kListedMost;
    if (calls.list == nullptr || calls.devices == nullptr ||
        calls.list(infos.data(), &count) != rocm::kSuccess) {
      return all;
    }
    infos.resize(std::min(count, kListedMost));
    for (const rocm::ProcessInfo& info : infos) {
      std::array<std::uint32_t, kDevicesMost> devices{};
      std::uint32_t on = kDevicesMost;
      if (calls.devices(info.pid, devices.data(), &on) != rocm::kSuccess) {
        continue;  // it has ended
      }
      for (const Gpu& gpu : gpus_) {
        const auto end = devices.begin() + std::min(on, kDevicesMost);
        if (std::find(devices.begin(), end, gpu.os_index) != end) {
          all.push_back({gpu.uuid, info.pid, Bytes(info.video_memory)});
        }
      }
    }
    return all;
  }

 private:
  template <class Number>
  static std::optional<Number> Ask(rocm::Status (*call)(std::uint32_t, Number*),
                                   std::uint32_t device) {
    Number number = 0;
    return call != nullptr && call(device, &number) == rocm::kSuccess ? std::optional(number)
                                                                      : std::nullopt;
  }

  [[nodiscard]] std::uint64_t Energy(std::uint32_t device) const {
    std::uint64_t count = 0;
    float unit_uj = 0;
    std::uint64_t time = 0;
    const bool told = rocm_.meter.energy != nullptr &&
                      rocm_.meter.energy(device, &count, &unit_uj, &time) == rocm::kSuccess;
    return told ? static_cast<std::uint64_t>(static_cast<double>(count) *
                                             static_cast<double>(unit_uj) / 1000)
                : 0;
  }

  [[nodiscard]] std::optional<std::uint64_t> Power(std::uint32_t device) const {
    std::uint64_t microwatts = 0;
    int kind = 0;
    const bool told = (rocm_.meter.power != nullptr &&
                       rocm_.meter.power(device, &microwatts, &kind) == rocm::kSuccess) ||
                      (rocm_.meter.average_power != nullptr &&
                       rocm_.meter.average_power(device, 0, &microwatts) == rocm::kSuccess);
    return told ? std::optional(microwatts / 1000) : std::nullopt;
  }

  [[nodiscard]] std::optional<int> Temperature(std::uint32_t device) const {
    for (const std::uint32_t sensor : {rocm::kEdge, rocm::kJunction}) {
      std::int64_t thousandths = 0;
      if (rocm_.meter.temperature != nullptr &&
          rocm_.meter.temperature(device, sensor, rocm::kCurrentTemperature, &thousandths) ==
              rocm::kSuccess) {
        return static_cast<int>(thousandths / 1000);
      }
    }
    return std::nullopt;
  }

  // The sums of those parts of the GPU that count theirs. Each part is a question to the GPU's
  // firmware, so they are not asked at each look.
  void AddErrors(std::uint32_t device, bool again, GpuReading& reading) {
    Errors& known = errors_[device];
    if (again) {
      known = Errors();
      for (std::uint64_t block = rocm::kFirstBlock;
           rocm_.meter.errors != nullptr && block <= rocm::kLastBlock; block *= 2) {
        rocm::ErrorCount count{};
        if (rocm_.meter.errors(device, block, &count) == rocm::kSuccess) {
          known.corrected = known.corrected.value_or(0) + count.correctable;
          known.uncorrected = known.uncorrected.value_or(0) + count.uncorrectable;
        }
      }
    }
    reading.corrected_ecc = known.corrected;
    reading.uncorrected_ecc = known.uncorrected;
  }

  struct Errors {
    std::optional<std::uint64_t> corrected;
    std::optional<std::uint64_t> uncorrected;
  };

  rocm::RocmSmi rocm_;
  const std::vector<Gpu> gpus_;
  std::map<std::uint32_t, Errors> errors_;
  std::optional<std::chrono::steady_clock::time_point> errors_read_;
};

}  // namespace

std::unique_ptr<GpuMeter> OpenRocmMeter(const std::string& file, std::vector<Gpu> gpus) {
  if (gpus.empty()) {
    return nullptr;
  }
  auto meter = std::make_unique<RocmMeter>(file, std::move(gpus));
  if (!meter->Start()) {
    return nullptr;
  }
  return meter;
}

}  // namespace muster::topology

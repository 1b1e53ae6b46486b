#include "topology/gpu/nvml_meter.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "scheduler/model/machine/xid_error.h"
#include "topology/gpu/nvml.h"
#include "topology/gpu/nvml_counters.h"

namespace muster::topology {
namespace {

constexpr nvml::Result kGpuIsLost = 15;
constexpr int kCorrected = 0;    // NVML_MEMORY_ERROR_TYPE_CORRECTED
constexpr int kUncorrected = 1;  // NVML_MEMORY_ERROR_TYPE_UNCORRECTED
constexpr int kVolatile = 0;     // NVML_VOLATILE_ECC: since the driver was loaded
constexpr int kEventsAtOnce = 256;
constexpr unsigned int kProcessesMost = 1024;  // on one GPU; else none is listed
constexpr int kDieSensor = 0;                  // NVML_TEMPERATURE_GPU

std::uint32_t BrakesOf(unsigned long long reasons) {
  struct Row {
    unsigned long long reason;
    std::uint32_t brake;
  };
  constexpr Row kRows[] = {
      {nvml::kReasonPowerCap, kBrakePower},    {nvml::kReasonHeat, kBrakeHeat},
      {nvml::kReasonHardware, kBrakeHardware}, {nvml::kReasonPowerBrake, kBrakeSupply},
      {nvml::kReasonSetting, kBrakeSetting},   {nvml::kReasonSyncBoost, kBrakeGroup}};
  std::uint32_t brakes = 0;
  for (const Row& row : kRows) {
    brakes |= (reasons & row.reason) != 0 ? row.brake : 0;
  }
  return brakes;
}

// What a call says that fills in one number, where there is such a call.
template <class Call, class... Which>
std::optional<std::uint32_t> Told(Call call, nvml::Device device, Which... which) {
  unsigned int number = 0;
  return call != nullptr && call(device, which..., &number) == nvml::kSuccess
             ? std::optional<std::uint32_t>(number)
             : std::nullopt;
}

class NvmlMeter final : public GpuMeter {
 public:
  explicit NvmlMeter(const std::string& library) : nvml_(library) {}
  NvmlMeter(const NvmlMeter&) = delete;
  NvmlMeter& operator=(const NvmlMeter&) = delete;
  ~NvmlMeter() override {
    if (events_ != nullptr) {
      nvml_.errors.free_events(events_);
    }
  }

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
        places_.push_back(PlaceOf(device));
        counters_.push_back(NvmlCounters::Open(nvml_, device));
        AddInstances(device);
      }
    }
    ListenForErrors();
    return !devices_.empty();
  }

  std::vector<GpuReading> Read() override {
    std::vector<GpuReading> readings = Glance();
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (counters_[i] != nullptr) {
        readings[i].counters = counters_[i]->Read();
      }
    }
    return readings;
  }

  std::vector<GpuReading> Glance() override {
    TakeErrors();
    std::vector<GpuReading> readings;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      const auto& [device, uuid] = devices_[i];
      GpuReading reading;
      reading.pci = places_[i];
      reading.uuid = uuid;
      nvml::Utilization busy{};
      nvml::MemoryInfo memory{};
      unsigned long long energy = 0;
      const nvml::Result asked = nvml_.memory(device, &memory);
      reading.lost = asked == kGpuIsLost;
      if (asked == nvml::kSuccess) {
        reading.memory_used = Bytes(UsedOf(device, memory));
      }
      // Not of a GPU that MIG divides.
      if (nvml_.utilization(device, &busy) == nvml::kSuccess) {
        reading.busy_percent = busy.gpu;
        reading.memory_busy_percent = busy.memory;
      }
      if (nvml_.power.energy != nullptr && nvml_.power.energy(device, &energy) == nvml::kSuccess) {
        reading.energy_mj = energy;
      }
      AddPower(device, reading);
      AddPace(device, reading);
      AddErrors(device, reading);
      readings.push_back(std::move(reading));
    }
    return readings;
  }

  std::vector<GpuProcess> Processes() override {
    std::vector<GpuProcess> processes;
    for (const auto* const devices : {&devices_, &instances_}) {
      for (const auto& [device, uuid] : *devices) {
        AddProcesses(device, uuid, processes);
      }
    }
    return processes;
  }

 private:
  // As the kernel's log has it.
  [[nodiscard]] std::string PlaceOf(nvml::Device device) const {
    nvml::PciInfo info{};
    return nvml_.pci(device, &info) == nvml::kSuccess
               ? absl::StrFormat("%04x:%02x:%02x", info.domain, info.bus, info.device)
               : "";
  }

  // Of a GPU that MIG divides, its instances: processes have memory of these.
  void AddInstances(nvml::Device device) {
    unsigned int most = 0;
    if (!nvml_.IsDivided(device) || nvml_.mig_count == nullptr || nvml_.mig_handle == nullptr ||
        nvml_.mig_count(device, &most) != nvml::kSuccess) {
      return;
    }
    for (unsigned int i = 0; i < most; ++i) {
      nvml::Device instance = nullptr;
      std::array<char, 96> uuid{};
      if (nvml_.mig_handle(device, i, &instance) == nvml::kSuccess &&
          nvml_.uuid(instance, uuid.data(), uuid.size()) == nvml::kSuccess) {
        instances_.emplace_back(instance, uuid.data());
      }
    }
  }

  // Those that compute first: one that draws, too, is listed twice.
  void AddProcesses(nvml::Device device, const std::string& uuid,
                    std::vector<GpuProcess>& processes) const {
    const std::size_t first = processes.size();
    for (const bool draws : {false, true}) {
      const auto list = draws ? nvml_.processes.drawing : nvml_.processes.computing;
      for (const nvml::ProcessInfo& info : List(list, device)) {
        const bool known =
            std::any_of(processes.begin() + static_cast<std::ptrdiff_t>(first), processes.end(),
                        [&info](const GpuProcess& process) { return process.pid == info.pid; });
        if (!known) {
          const bool told = info.memory != nvml::kUnknownMemory;
          processes.push_back({uuid, info.pid, Bytes(told ? info.memory : 0), draws});
        }
      }
    }
  }

  static std::vector<nvml::ProcessInfo> List(nvml::ProcessCalls::List list, nvml::Device device) {
    // Twice as much as it may fill: drivers 535.43 to 535.86 write longer entries.
    std::vector<nvml::ProcessInfo> infos(std::size_t{2} * kProcessesMost);
    unsigned int count = kProcessesMost;
    if (list == nullptr || list(device, &count, infos.data()) != nvml::kSuccess) {
      return {};
    }
    infos.resize(std::min(count, kProcessesMost));
    return infos;
  }

  struct Xids {
    unsigned long long newest = 0;
    std::uint64_t count = 0;
    unsigned long long newest_breaking = 0;
    std::uint64_t breaking = 0;
    std::map<std::uint64_t, std::uint64_t> counts;
  };

  // Where the driver tells none there are none to hear: as where NVML is old, or MIG divides the
  // GPU.
  void ListenForErrors() {
    if (nvml_.errors.make_events == nullptr || nvml_.errors.free_events == nullptr ||
        nvml_.errors.register_events == nullptr || nvml_.errors.wait_event == nullptr ||
        nvml_.errors.make_events(&events_) != nvml::kSuccess) {
      events_ = nullptr;
      return;
    }
    for (const auto& [device, uuid] : devices_) {
      if (nvml_.errors.register_events(device, nvml::kXidError, events_) == nvml::kSuccess) {
        xids_[device] = Xids();
      }
    }
  }

  void TakeErrors() {
    nvml::EventData event{};
    for (int i = 0; events_ != nullptr && i < kEventsAtOnce &&
                    nvml_.errors.wait_event(events_, &event, /*milliseconds=*/0) == nvml::kSuccess;
         ++i) {
      if (event.type == nvml::kXidError) {
        Xids& xids = xids_[event.device];
        xids.newest = event.data;
        ++xids.count;
        ++xids.counts[event.data];
        if (XidBreaksGpu(event.data)) {
          xids.newest_breaking = event.data;
          ++xids.breaking;
        }
      }
    }
  }

  // Without what is reserved for the driver, where the library tells that apart, as nvidia-smi.
  [[nodiscard]] std::uint64_t UsedOf(nvml::Device device, const nvml::MemoryInfo& memory) const {
    nvml::MemoryInfoV2 apart{};
    apart.version = nvml::kMemoryVersion2;
    return nvml_.memory_v2 != nullptr && nvml_.memory_v2(device, &apart) == nvml::kSuccess
               ? apart.used
               : memory.used;
  }

  void AddPower(nvml::Device device, GpuReading& reading) const {
    reading.power_mw = Told(nvml_.power.now, device);
    if (const auto celsius = Told(nvml_.power.temperature, device, kDieSensor)) {
      reading.celsius = static_cast<int>(*celsius);
    }
  }

  void AddPace(nvml::Device device, GpuReading& reading) const {
    const nvml::PaceCalls& pace = nvml_.pace;
    unsigned long long reasons = 0;
    reading.clock_mhz = Told(pace.clock, device, nvml::kClockSm);
    reading.clock_most_mhz = Told(pace.most, device, nvml::kClockSm);
    if (pace.reasons != nullptr && pace.reasons(device, &reasons) == nvml::kSuccess) {
      reading.brakes = BrakesOf(reasons);
    }
    reading.link.pcie_generation = Told(pace.pcie_generation, device);
    reading.link.pcie_lanes = Told(pace.pcie_lanes, device);
    reading.link.nvlinks = LinksUp(device);
  }

  // Nothing: the GPU has none, or does not say.
  [[nodiscard]] std::optional<std::uint32_t> LinksUp(nvml::Device device) const {
    std::optional<std::uint32_t> up;
    for (unsigned int link = 0; link < nvml::kLinksMax; ++link) {
      unsigned int active = 0;
      if (nvml_.link_state == nullptr ||
          nvml_.link_state(device, link, &active) != nvml::kSuccess) {
        break;
      }
      up = up.value_or(0) + (active != 0 ? 1 : 0);
    }
    return up;
  }

  [[nodiscard]] std::optional<std::uint64_t> Ecc(nvml::Device device, int kind) const {
    unsigned long long errors = 0;
    return nvml_.errors.ecc != nullptr &&
                   nvml_.errors.ecc(device, kind, kVolatile, &errors) == nvml::kSuccess
               ? std::optional<std::uint64_t>(errors)
               : std::nullopt;
  }

  void AddErrors(nvml::Device device, GpuReading& reading) const {
    reading.corrected_ecc = Ecc(device, kCorrected);
    reading.uncorrected_ecc = Ecc(device, kUncorrected);
    if (const auto xids = xids_.find(device); xids != xids_.end()) {
      reading.xid = xids->second.newest;
      reading.xids = xids->second.count;
      reading.breaking_xid = xids->second.newest_breaking;
      reading.breaking_xids = xids->second.breaking;
      reading.xid_counts = xids->second.counts;
    }
  }

  nvml::Nvml nvml_;
  std::vector<std::pair<nvml::Device, std::string>> devices_;
  std::vector<std::string> places_;                              // of each, as GpuReading::pci
  std::vector<std::pair<nvml::Device, std::string>> instances_;  // of those that MIG divides
  std::vector<std::unique_ptr<NvmlCounters>> counters_;          // of each; null: it has none
  nvml::EventSet events_ = nullptr;                              // null: none are told
  std::map<nvml::Device, Xids> xids_;                            // where the driver tells them
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

#include "topology/gpu/gpu_rocm.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "topology/gpu/rocm_meter.h"
#include "topology/gpu/rocm_smi.h"

namespace muster::topology {
namespace {

constexpr std::array<std::string_view, 3> kAmdStale = {"ROCR_VISIBLE_DEVICES",
                                                       "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"};
constexpr GpuFacts kAmdFacts = {.vendor = GpuVendor::kAmd,
                                .library = "ROCm SMI",
                                .variable = "MUSTER_ROCM_SMI",
                                .file = "librocm_smi64.so",
                                .visible = "ROCR_VISIBLE_DEVICES",
                                .link = "XGMI",
                                .stale = kAmdStale};
constexpr std::string_view kAmdPci = "0x1002";

// rsmi_dev_pci_id_get: domain in bits 63 to 32, bus in 15 to 8, device in 7 to 3, function in 2 to
// 0. A partitioned GPU's partition stands in bits 31 to 28 or, in older versions, in place of the
// function, which is 0.
std::string AddressOf(const rocm::RocmSmi& rocm, std::uint32_t device, std::uint64_t id) {
  const auto function = static_cast<std::uint32_t>(id & 7U);
  std::uint32_t partition = 0;
  const bool is_partition = rocm.partition != nullptr &&
                            rocm.partition(device, &partition) == rocm::kSuccess &&
                            partition == function;
  return absl::StrFormat("%04x:%02x:%02x.%x", id >> 32U, id >> 8U & 0xffU, id >> 3U & 0x1fU,
                         is_partition ? 0 : function);
}

// The words of ROCm SMI about the device `gpu.os_index`, but for its UUID.
rocm::Status ReadGpu(const rocm::RocmSmi& rocm, Gpu& gpu) {
  std::array<char, 128> text{};
  rocm::Status status = rocm.name(gpu.os_index, text.data(), text.size() - 1);
  if (status != rocm::kSuccess) {
    return status;
  }
  gpu.model = text.data();
  std::uint64_t id = 0;
  status = rocm.pci(gpu.os_index, &id);
  if (status != rocm::kSuccess) {
    return status;
  }
  gpu.pci_address = AddressOf(rocm, gpu.os_index, id);
  std::uint64_t memory = 0;
  status = rocm.memory(gpu.os_index, rocm::kVideoMemory, &memory);
  gpu.memory = Bytes(memory);
  return status;
}

// Its unique id, else its place: partitions of a GPU share the former, older GPUs have none.
void NameGpu(const rocm::RocmSmi& rocm, std::set<std::string>& taken, Gpu& gpu,
             GpuListing& reading) {
  std::uint64_t id = 0;
  if (rocm.unique_id != nullptr && rocm.unique_id(gpu.os_index, &id) == rocm::kSuccess && id != 0) {
    gpu.uuid = absl::StrFormat("GPU-%016x", id);
  }
  if (gpu.uuid.empty() || taken.count(gpu.uuid) != 0) {
    gpu.uuid = absl::StrCat("AMD-", gpu.os_index, "-", gpu.pci_address);
    reading.remarks.push_back(absl::StrCat("AMD GPU ", gpu.os_index,
                                           " has no unique id of its own: it is called ", gpu.uuid,
                                           ", which ROCR_VISIBLE_DEVICES does not know"));
  }
  taken.insert(gpu.uuid);
}

void AddLinks(const rocm::RocmSmi& rocm, GpuListing& reading) {
  for (std::uint32_t a = 0; rocm.link_type != nullptr && a < reading.gpus.size(); ++a) {
    for (std::uint32_t b = a + 1; b < reading.gpus.size(); ++b) {
      const std::uint32_t from = reading.gpus[a].os_index;
      const std::uint32_t to = reading.gpus[b].os_index;
      std::uint64_t hops = 0;
      int type = 0;
      if (rocm.link_type(from, to, &hops, &type) != rocm::kSuccess || type != rocm::kXgmi) {
        continue;
      }
      std::uint64_t least = 0;
      std::uint64_t most = 0;  // MB/s
      if (rocm.bandwidth == nullptr || rocm.bandwidth(from, to, &least, &most) != rocm::kSuccess) {
        most = 0;
      }
      reading.links.push_back({a, b, LinkKind::kNvLink, 0, most});
    }
  }
}

GpuListing ListAmds(const std::string& library) {
  GpuListing reading;
  reading.library = kAmdFacts.library;
  if (library.empty()) {
    return reading;
  }
  rocm::RocmSmi rocm(library);
  if (!rocm.loaded()) {
    if (library.find('/') != std::string::npos) {
      reading.remarks.push_back(
          absl::StrCat(library, ": ROCm SMI does not load, so no AMD GPUs are seen"));
    }
    return reading;
  }
  const std::string trouble = rocm.Start();
  std::uint32_t count = 0;
  const rocm::Status counted = trouble.empty() ? rocm.count(&count) : rocm::kSuccess;
  if (!trouble.empty() || counted != rocm::kSuccess) {
    reading.remarks.push_back(absl::StrCat(
        library, ": ROCm SMI does not start: ", trouble.empty() ? rocm.Explain(counted) : trouble));
    return reading;
  }
  std::set<std::string> taken;
  for (std::uint32_t device = 0; device < count; ++device) {
    Gpu gpu;
    gpu.os_index = device;
    gpu.vendor = GpuVendor::kAmd;
    const rocm::Status status = ReadGpu(rocm, gpu);
    if (status != rocm::kSuccess) {
      reading.remarks.push_back(
          absl::StrCat("AMD GPU ", device, " is left out: ", rocm.Explain(status)));
      continue;
    }
    NameGpu(rocm, taken, gpu, reading);
    std::uint32_t numa = 0;
    const bool told = rocm.numa != nullptr && rocm.numa(device, &numa) == rocm::kSuccess;
    reading.numa_told.push_back(told ? std::optional(numa) : std::nullopt);
    reading.gpus.push_back(std::move(gpu));
  }
  AddLinks(rocm, reading);
  return reading;
}

std::vector<DeviceNodes> FindAmdDevices(const Machine& machine, const std::string& root) {
  std::vector<DeviceNodes> devices = FindDrawingDevices(machine, root, kAmdPci);
  std::optional<DeviceNodes> compute =
      ReadDeviceNumber(root + "/sys/class/kfd/kfd/dev", GpusOf(machine, GpuVendor::kAmd));
  if (compute.has_value()) {
    devices.push_back(*std::move(compute));  // one for all of AMD's GPUs
  }
  return devices;
}

class AmdLibrary final : public GpuLibrary {
 public:
  constexpr AmdLibrary() = default;

  [[nodiscard]] const GpuFacts& facts() const override { return kAmdFacts; }
  [[nodiscard]] GpuListing List(const std::string& file) const override { return ListAmds(file); }
  [[nodiscard]] std::unique_ptr<GpuMeter> OpenMeter(const std::string& file) const override {
    return OpenRocmMeter(file, ListAmds(file).gpus);
  }
  [[nodiscard]] std::vector<DeviceNodes> FindDevices(const Machine& machine,
                                                     const std::string& root) const override {
    return FindAmdDevices(machine, root);
  }
  // ROCr knows a GPU without a unique id of its own by its number alone.
  [[nodiscard]] bool TakesUuid(const Gpu& gpu) const override {
    return absl::StartsWith(gpu.uuid, "GPU-");
  }
  [[nodiscard]] std::vector<GpuVariable> Show(const Machine& machine,
                                              const std::string& names) const override {
    if (GpusOf(machine, GpuVendor::kAmd).empty()) {
      return {};
    }
    return {{std::string(kAmdFacts.visible), names}};
  }
  [[nodiscard]] std::vector<GpuVariable> HoldTo(GpuShare /*share*/, const Machine& /*machine*/,
                                                std::uint32_t /*gpu*/) const override {
    return {};
  }
};

}  // namespace

const GpuLibrary& RocmSmiLibrary() {
  static const AmdLibrary library;
  return library;
}

}  // namespace muster::topology

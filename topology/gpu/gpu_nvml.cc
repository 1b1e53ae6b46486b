#include "topology/gpu/gpu_nvml.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "topology/gpu/nvml.h"
#include "topology/gpu/nvml_division.h"
#include "topology/gpu/nvml_meter.h"

namespace muster::topology {
namespace {

using nvml::Attributes;
using nvml::Device;
using nvml::kSuccess;
using nvml::MemoryInfo;
using nvml::Nvml;
using nvml::PciInfo;
using nvml::Result;

constexpr std::array<std::string_view, 3> kNvidiaStale = {
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES"};
constexpr GpuFacts kNvidiaFacts = {.vendor = GpuVendor::kNvidia,
                                   .library = "NVML",
                                   .variable = "MUSTER_NVML",
                                   .file = "libnvidia-ml.so.1",
                                   .visible = "CUDA_VISIBLE_DEVICES",
                                   .link = "",
                                   .stale = kNvidiaStale};

// Given to NVIDIA for good; above the last minor are the ones that every program opens (255 the
// control device, 254 mode setting).
constexpr std::uint32_t kNvidiaMajor = 195;
constexpr std::uint32_t kNvidiaLastGpu = 253;
constexpr std::uint32_t kNvidiaMinorMax = (1U << 20) - 1;
constexpr std::string_view kNvidiaPci = "0x10de";

constexpr Result kNotFound = 6;
constexpr unsigned int kNvLinksMax = 18;  // NVML_NVLINK_MAX_LINKS
constexpr int kP2pNvLink = 2;             // NVML_P2P_CAPS_INDEX_NVLINK
constexpr int kP2pOk = 0;                 // NVML_P2P_STATUS_OK

std::string AddressOf(const PciInfo& pci) {
  return absl::StrFormat("%04x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
}

// The active NVLinks of one GPU: how many, and to which PCI addresses as far as they are told.
struct NvLinks {
  std::uint32_t active = 0;
  std::map<std::string, std::uint32_t> to;
};

NvLinks ReadNvLinks(const Nvml& nvml, Device device) {
  NvLinks links;
  if (nvml.link_state == nullptr) {
    return links;
  }
  for (unsigned int link = 0; link < kNvLinksMax; ++link) {
    unsigned int active = 0;
    if (nvml.link_state(device, link, &active) != kSuccess || active == 0) {
      continue;
    }
    ++links.active;
    PciInfo remote{};
    if (nvml.link_remote != nullptr && nvml.link_remote(device, link, &remote) == kSuccess) {
      ++links.to[AddressOf(remote)];
    }
  }
  return links;
}

bool JoinedByNvLink(const Nvml& nvml, Device a, Device b) {
  int status = 0;
  return nvml.p2p != nullptr && nvml.p2p(a, b, kP2pNvLink, &status) == kSuccess && status == kP2pOk;
}

// Between whole GPUs: CUDA gives the instances of MIG no peers. REQUIRES: `devices` are those of
// reading.gpus, null for an instance.
void AddLinks(const Nvml& nvml, const std::vector<Device>& devices, GpuListing& reading) {
  std::vector<NvLinks> links;
  links.reserve(devices.size());
  for (Device device : devices) {
    links.push_back(device == nullptr ? NvLinks() : ReadNvLinks(nvml, device));
  }
  for (std::uint32_t a = 0; a < devices.size(); ++a) {
    for (std::uint32_t b = a + 1; b < devices.size(); ++b) {
      if (devices[a] == nullptr || devices[b] == nullptr) {
        continue;
      }
      const auto direct = links[a].to.find(reading.gpus[b].pci_address);
      const std::uint32_t lanes = direct != links[a].to.end() ? direct->second
                                  : JoinedByNvLink(nvml, devices[a], devices[b])
                                      ? std::min(links[a].active, links[b].active)
                                      : 0;
      if (lanes > 0) {
        reading.links.push_back({a, b, LinkKind::kNvLink, lanes, 0});
      }
    }
  }
}

// UUID, name and memory of a GPU or an instance; `gpu` holds what was told before it refused.
Result ReadWords(const Nvml& nvml, Device device, Gpu& gpu) {
  std::array<char, 96> text{};
  Result result = nvml.uuid(device, text.data(), static_cast<unsigned int>(text.size()));
  if (result != kSuccess) {
    return result;
  }
  gpu.uuid = text.data();
  result = nvml.name(device, text.data(), static_cast<unsigned int>(text.size()));
  if (result != kSuccess) {
    return result;
  }
  gpu.model = text.data();
  MemoryInfo memory{};
  result = nvml.memory(device, &memory);
  if (result == kSuccess) {
    gpu.memory = Bytes(memory.total);
  }
  return result;
}

// The words of NVML about the device at `index`; `gpu` holds what it told before it refused.
Result ReadGpu(const Nvml& nvml, unsigned int index, Device& device, Gpu& gpu) {
  Result result = nvml.handle(index, &device);
  if (result != kSuccess) {
    return result;
  }
  PciInfo pci{};
  result = nvml.pci(device, &pci);
  if (result != kSuccess) {
    return result;
  }
  gpu.pci_address = AddressOf(pci);
  return ReadWords(nvml, device, gpu);
}

// What a job's author may stumble over.
void AddOddities(const Nvml& nvml, Device device, const Gpu& gpu, GpuListing& reading) {
  unsigned int minor = 0;
  if (nvml.minor != nullptr && nvml.minor(device, &minor) == kSuccess && minor != gpu.os_index) {
    reading.remarks.push_back(absl::StrCat("GPU ", gpu.os_index, " is /dev/nvidia", minor));
  }
}

// "1g.5gb": what NVML's name of the instance ends in; else by its slices and its memory, which
// NVIDIA's own words round up. Empty where NVML tells neither.
std::string ProfileOf(const Nvml& nvml, Device instance, const std::string& model) {
  constexpr std::string_view kBefore = " MIG ";
  constexpr unsigned long long kMibPerGib = 1024;
  const std::size_t at = model.rfind(kBefore);
  if (at != std::string::npos) {
    return model.substr(at + kBefore.size());
  }
  Attributes told{};
  if (nvml.attributes == nullptr || nvml.attributes(instance, &told) != kSuccess) {
    return "";
  }
  return absl::StrCat(told.gpu_slices, "g.", (told.memory_mib + kMibPerGib - 1) / kMibPerGib, "gb");
}

// The instance at `index` of `parent`, or nothing: why is a remark, unless none was made there.
std::optional<Gpu> ReadInstance(const Nvml& nvml, Device device, const Gpu& parent,
                                unsigned int index, GpuListing& reading) {
  const auto left_out = [&](const std::string& why) {
    reading.remarks.push_back(
        absl::StrCat("MIG instance ", index, " of GPU ", parent.os_index, " is left out: ", why));
    return std::nullopt;
  };
  Device instance = nullptr;
  Result result = nvml.mig_handle(device, index, &instance);
  if (result == kNotFound) {
    return std::nullopt;
  }
  Gpu gpu = parent;
  gpu.parent = parent.uuid;
  if (result == kSuccess) {
    result = ReadWords(nvml, instance, gpu);
  }
  if (result != kSuccess) {
    return left_out(nvml.Explain(result));
  }
  gpu.instance = ProfileOf(nvml, instance, gpu.model);
  if (gpu.instance.empty()) {
    return left_out("NVML does not say its profile");
  }
  if (gpu.model.find(gpu.instance) == std::string::npos) {
    gpu.model = absl::StrCat(parent.model, " MIG ", gpu.instance);
  }
  return gpu;
}

// The instances of the GPU `parent`, which is divided, in its place.
void AddInstances(const Nvml& nvml, Device device, const Gpu& parent, GpuListing& reading,
                  std::vector<Device>& devices) {
  unsigned int count = 0;
  const Result result = nvml.mig_count(device, &count);
  if (result != kSuccess) {
    reading.remarks.push_back(absl::StrCat(
        "GPU ", parent.os_index, " is divided by MIG and left out: ", nvml.Explain(result)));
    return;
  }
  const std::size_t before = reading.gpus.size();
  const std::size_t remarks_before = reading.remarks.size();
  for (unsigned int index = 0; index < count; ++index) {
    std::optional<Gpu> instance = ReadInstance(nvml, device, parent, index, reading);
    if (instance.has_value()) {
      reading.gpus.push_back(*std::move(instance));
      devices.push_back(nullptr);
    }
  }
  if (reading.gpus.size() == before && reading.remarks.size() == remarks_before) {
    reading.remarks.push_back(
        absl::StrCat("GPU ", parent.os_index,
                     " is divided by MIG but has no instances, so no job can use it: make some "
                     "(nvidia-smi mig -cgi) or turn MIG off"));
  }
}

GpuListing ListNvidias(const std::string& library) {
  GpuListing reading;
  reading.library = kNvidiaFacts.library;
  if (library.empty()) {
    return reading;
  }
  Nvml nvml(library);
  if (!nvml.loaded()) {
    if (library.find('/') != std::string::npos) {
      reading.remarks.push_back(absl::StrCat(library, ": NVML does not load, so no GPUs are seen"));
    }
    return reading;
  }
  const std::string trouble = nvml.Start();
  unsigned int count = 0;
  const Result counted = trouble.empty() ? nvml.count(&count) : kSuccess;
  if (!trouble.empty() || counted != kSuccess) {
    reading.remarks.push_back(absl::StrCat(
        library, ": NVML does not start: ", trouble.empty() ? nvml.Explain(counted) : trouble));
    return reading;
  }
  std::vector<Device> devices;
  for (unsigned int index = 0; index < count; ++index) {
    Device device = nullptr;
    Gpu gpu;
    gpu.os_index = index;
    const Result result = ReadGpu(nvml, index, device, gpu);
    if (result != kSuccess) {
      reading.remarks.push_back(
          absl::StrCat("GPU ", index, " is left out: ", nvml.Explain(result)));
      continue;
    }
    AddOddities(nvml, device, gpu, reading);
    if (std::vector<MigProfile> profiles = ReadMigProfiles(nvml, device); !profiles.empty()) {
      reading.mig.push_back({gpu, std::move(profiles)});
    }
    if (nvml.IsDivided(device)) {
      if (nvml.mig_count != nullptr && nvml.mig_handle != nullptr) {
        AddInstances(nvml, device, gpu, reading, devices);
        continue;
      }
      reading.remarks.push_back(
          absl::StrCat("GPU ", index, " is divided by MIG; its parts are not listed"));
    }
    reading.gpus.push_back(std::move(gpu));
    devices.push_back(device);
  }
  AddLinks(nvml, devices, reading);
  return reading;
}

// "Device Minor: 3" of /proc/driver/nvidia/gpus/<address>/information.
std::optional<std::uint32_t> NvidiaMinor(const std::filesystem::path& gpu) {
  const std::vector<std::string> lines = absl::StrSplit(TrimmedText(gpu / "information"), '\n');
  for (const std::string& line : lines) {
    const std::vector<std::string> parts = absl::StrSplit(line, ':');
    std::uint32_t minor = 0;
    if (parts.size() == 2 && parts[0] == "Device Minor" &&
        absl::SimpleAtoi(absl::StripAsciiWhitespace(parts[1]), &minor)) {
      return minor;
    }
  }
  return std::nullopt;
}

std::vector<DeviceNodes> FindNvidiaDevices(const Machine& machine, const std::string& root) {
  std::vector<DeviceNodes> devices;
  const std::vector<std::filesystem::path> known = EntriesOf(root + "/proc/driver/nvidia/gpus");
  for (const std::filesystem::path& gpu : known) {
    const std::optional<std::uint32_t> minor = NvidiaMinor(gpu);
    if (minor.has_value()) {
      devices.push_back({kNvidiaMajor, *minor, *minor, GpusAt(machine, gpu.filename().string())});
    }
  }
  if (known.empty()) {
    // A driver that shows no such directory: the number that NVML gave is the best there is.
    for (const std::uint32_t position : GpusOf(machine, GpuVendor::kNvidia)) {
      const std::uint32_t minor = machine.gpus[position].os_index;
      devices.push_back({kNvidiaMajor, minor, minor, {position}});
    }
  }
  if (!known.empty() || !devices.empty()) {
    devices.push_back({kNvidiaMajor, 0, kNvidiaLastGpu, {}});
  }
  if (const auto major = MajorOf("nvidia-caps", root); major.has_value()) {
    // Parts of divided GPUs; which capability is which part's only NVML could say.
    DeviceNodes parts = {*major, 0, kNvidiaMinorMax, {}};
    for (std::uint32_t i = 0; i < machine.gpus.size(); ++i) {
      if (!machine.gpus[i].instance.empty()) {
        parts.gpus.push_back(i);
      }
    }
    devices.push_back(std::move(parts));
  }
  for (DeviceNodes& nodes : FindDrawingDevices(machine, root, kNvidiaPci)) {
    devices.push_back(std::move(nodes));
  }
  return devices;
}

// What CUDA's MPS holds its users to.
std::vector<GpuVariable> HoldByMps(GpuShare share, const Machine& machine, std::uint32_t gpu) {
  constexpr std::uint32_t kPerCent = 10;  // thousandths
  std::vector<GpuVariable> variables = {
      {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", absl::StrCat(std::max(share.value() / kPerCent, 1U))}};
  const Bytes memory = gpu < machine.gpus.size() ? machine.gpus[gpu].memory : Bytes();
  if (!memory.zero()) {
    const std::uint64_t bytes = memory.value() / kWholeGpu.value() * share.value();
    variables.push_back(
        {"CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", absl::StrCat("0=", bytes / kMebibyte.value(), "M")});
  }
  if (!machine.mps.empty()) {
    variables.push_back({"CUDA_MPS_PIPE_DIRECTORY", machine.mps});
  }
  return variables;
}

class NvidiaLibrary final : public GpuLibrary {
 public:
  constexpr NvidiaLibrary() = default;

  [[nodiscard]] const GpuFacts& facts() const override { return kNvidiaFacts; }
  [[nodiscard]] GpuListing List(const std::string& file) const override {
    return ListNvidias(file);
  }
  [[nodiscard]] std::unique_ptr<GpuMeter> OpenMeter(const std::string& file) const override {
    return OpenNvmlMeter(file);
  }
  [[nodiscard]] std::vector<DeviceNodes> FindDevices(const Machine& machine,
                                                     const std::string& root) const override {
    return FindNvidiaDevices(machine, root);
  }
  [[nodiscard]] absl::Status Divide(const std::string& file, const std::string& uuid,
                                    const std::vector<MigInstance>& instances) const override {
    return DivideNvidia(file, uuid, instances);
  }
  [[nodiscard]] bool TakesUuid(const Gpu& gpu) const override { return !gpu.uuid.empty(); }
  [[nodiscard]] std::vector<GpuVariable> Show(const Machine& /*machine*/,
                                              const std::string& names) const override {
    return {{std::string(kNvidiaFacts.visible), names}, {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}};
  }
  [[nodiscard]] std::vector<GpuVariable> HoldTo(GpuShare share, const Machine& machine,
                                                std::uint32_t gpu) const override {
    return HoldByMps(share, machine, gpu);
  }
};

}  // namespace

const GpuLibrary& NvmlLibrary() {
  static const NvidiaLibrary library;
  return library;
}

}  // namespace muster::topology

#include "topology/gpu_nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace muster {
namespace {

// The part of NVML's ABI that we use; names and layouts as in its reference, version 2 and up.
using Result = int;
constexpr Result kSuccess = 0;
using Device = struct OpaqueNvmlDevice*;

constexpr unsigned int kNvLinksMax = 18;  // NVML_NVLINK_MAX_LINKS
constexpr int kP2pNvLink = 2;             // NVML_P2P_CAPS_INDEX_NVLINK
constexpr int kP2pOk = 0;                 // NVML_P2P_STATUS_OK

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

struct Close {
  void operator()(void* library) const { dlclose(library); }
};

// One loaded NVML: its entry points, and its initialised state for as long as the object lives.
class Nvml {
 public:
  explicit Nvml(const std::string& library)
      : library_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) {
      return;
    }
    Find("nvmlInit_v2", init_);
    Find("nvmlShutdown", shutdown_);
    Find("nvmlErrorString", error_string_);
    Find("nvmlDeviceGetCount_v2", count);
    Find("nvmlDeviceGetHandleByIndex_v2", handle);
    Find("nvmlDeviceGetUUID", uuid);
    Find("nvmlDeviceGetName", name);
    Find("nvmlDeviceGetMemoryInfo", memory);
    Find("nvmlDeviceGetPciInfo_v3", pci);
    const std::string missing = missing_;
    Find("nvmlDeviceGetMinorNumber", minor);  // these may be absent
    Find("nvmlDeviceGetMigMode", mig);
    Find("nvmlDeviceGetNvLinkState", link_state);
    Find("nvmlDeviceGetNvLinkRemotePciInfo_v2", link_remote);
    Find("nvmlDeviceGetP2PStatus", p2p);
    missing_ = missing;
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml() {
    if (started_) {
      shutdown_();
    }
  }

  [[nodiscard]] bool loaded() const { return library_ != nullptr; }

  // "" when NVML is ready for use, else why not.
  std::string Start() {
    if (!missing_.empty()) {
      return absl::StrCat("it has no ", missing_);
    }
    const Result result = init_();
    started_ = result == kSuccess;
    return started_ ? "" : Explain(result);
  }

  [[nodiscard]] std::string Explain(Result result) const {
    const char* text = error_string_(result);
    return text == nullptr ? absl::StrCat("error ", result) : text;
  }

  // The entry points, as NVML has them.
  Result (*count)(unsigned int*) = nullptr;
  Result (*handle)(unsigned int, Device*) = nullptr;
  Result (*uuid)(Device, char*, unsigned int) = nullptr;
  Result (*name)(Device, char*, unsigned int) = nullptr;
  Result (*memory)(Device, MemoryInfo*) = nullptr;
  Result (*pci)(Device, PciInfo*) = nullptr;
  Result (*minor)(Device, unsigned int*) = nullptr;
  Result (*mig)(Device, unsigned int*, unsigned int*) = nullptr;
  Result (*link_state)(Device, unsigned int, unsigned int*) = nullptr;
  Result (*link_remote)(Device, unsigned int, PciInfo*) = nullptr;
  Result (*p2p)(Device, Device, int, int*) = nullptr;

 private:
  template <class Function>
  void Find(const char* symbol, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library_.get(), symbol));
    if (function == nullptr) {
      missing_ = symbol;
    }
  }

  std::unique_ptr<void, Close> library_;
  std::string missing_;
  bool started_ = false;
  Result (*init_)() = nullptr;
  Result (*shutdown_)() = nullptr;
  const char* (*error_string_)(Result) = nullptr;
};

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

// REQUIRES: `devices` are those of reading.gpus.
void AddLinks(const Nvml& nvml, const std::vector<Device>& devices, NvmlReading& reading) {
  std::vector<NvLinks> links;
  for (Device device : devices) {
    links.push_back(ReadNvLinks(nvml, device));
  }
  for (std::uint32_t a = 0; a < devices.size(); ++a) {
    for (std::uint32_t b = a + 1; b < devices.size(); ++b) {
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

// The words of NVML about the device at `index`; `gpu` holds what it told before it refused.
Result ReadGpu(const Nvml& nvml, unsigned int index, Device& device, Gpu& gpu) {
  std::array<char, 96> text{};
  Result result = nvml.handle(index, &device);
  if (result != kSuccess) {
    return result;
  }
  result = nvml.uuid(device, text.data(), static_cast<unsigned int>(text.size()));
  if (result != kSuccess) {
    return result;
  }
  gpu.uuid = text.data();
  result = nvml.name(device, text.data(), static_cast<unsigned int>(text.size()));
  if (result != kSuccess) {
    return result;
  }
  gpu.model = text.data();
  PciInfo pci{};
  result = nvml.pci(device, &pci);
  if (result != kSuccess) {
    return result;
  }
  gpu.pci_address = AddressOf(pci);
  MemoryInfo memory{};
  result = nvml.memory(device, &memory);
  if (result == kSuccess) {
    gpu.memory = Bytes(memory.total);
  }
  return result;
}

// What a job's author may stumble over.
void AddOddities(const Nvml& nvml, Device device, const Gpu& gpu, NvmlReading& reading) {
  unsigned int minor = 0;
  if (nvml.minor != nullptr && nvml.minor(device, &minor) == kSuccess && minor != gpu.os_index) {
    reading.remarks.push_back(absl::StrCat("GPU ", gpu.os_index, " is /dev/nvidia", minor));
  }
  unsigned int current = 0;
  unsigned int pending = 0;
  if (nvml.mig != nullptr && nvml.mig(device, &current, &pending) == kSuccess && current != 0) {
    reading.remarks.push_back(
        absl::StrCat("GPU ", gpu.os_index, " is divided by MIG; its parts are not listed"));
  }
}

}  // namespace

std::string NvmlLibrary() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): called before other threads change the environment
  const char* chosen = std::getenv("MUSTER_NVML");
  return chosen == nullptr ? "libnvidia-ml.so.1" : chosen;
}

NvmlReading ReadNvml(const std::string& library) {
  NvmlReading reading;
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
    reading.gpus.push_back(std::move(gpu));
    devices.push_back(device);
  }
  AddLinks(nvml, devices, reading);
  return reading;
}

}  // namespace muster

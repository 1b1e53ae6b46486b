#include "topology/captured/nccl_xml.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/base/utf8.h"
#include "topology/captured/fabric_name.h"
#include "topology/captured/topo_matrix.h"
#include "topology/captured/xml_tree.h"
#include "topology/hwloc/pci_links.h"

namespace muster::topology {
namespace {

constexpr std::uint32_t kDisplay = 0x0300;
constexpr std::uint32_t kThreeD = 0x0302;
constexpr std::uint32_t kInfiniBand = 0x0207;
constexpr std::uint32_t kEthernet = 0x0200;
constexpr std::uint32_t kNvSwitch = 0x0680;
constexpr std::size_t kBitsPerWord = 32;
constexpr std::int64_t kNumaMax = 65535;

struct Bond {
  std::string target;
  std::uint32_t target_class = 0;
  std::uint32_t lanes = 0;
};

// A device with its way up the PCI tree.
struct Device {
  std::string address;
  std::uint32_t numa = kNowhere;
  std::vector<const XmlElement*> above;  // <pci> elements and the <cpu>, nearest first
  std::optional<std::uint32_t> number;   // of a GPU: its `dev`
  std::uint32_t sm = 0;                  // of a GPU: its compute capability, 80
  std::string model;                     // of a GPU: its PCI ids
  std::string name;                      // of a NIC: its <net>'s
  std::vector<Bond> bonds;
};

template <class Number>
std::optional<Number> ReadNumber(const std::string& text, int base) {
  Number value = 0;
  const std::string digits = base == 16 && text.rfind("0x", 0) == 0 ? text.substr(2) : text;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  return error == std::errc() && stop == end && !digits.empty() ? std::optional(value)
                                                                : std::nullopt;
}

// "00000000,000fffff": words of 32 bits, the highest first.
std::optional<CpuSet> ReadMask(const std::string& text) {
  const std::vector<std::string> words = absl::StrSplit(text, ',');
  CpuSet cpus;
  for (std::size_t w = 0; w < words.size(); ++w) {
    const auto word = ReadNumber<std::uint32_t>(words[words.size() - 1 - w], 16);
    if (!word.has_value() || words.size() * kBitsPerWord > Bits::kLimit) {
      return std::nullopt;
    }
    for (std::uint32_t bit = 0; bit < kBitsPerWord; ++bit) {
      if ((*word >> bit & 1U) != 0) {
        cpus.Insert(static_cast<std::uint32_t>(w * kBitsPerWord + bit));
      }
    }
  }
  return cpus;
}

std::string Value(const XmlElement& element, const std::string& attribute) {
  const std::string* value = element.Find(attribute);
  return value == nullptr ? "" : *value;
}

// The two bytes of a class that say what a device is: "0x030200" is a 3D controller.
std::uint32_t ClassOf(const std::string& text) {
  const auto number = ReadNumber<std::uint32_t>(text, 16);
  return number.has_value() ? *number >> 8U : 0;
}

class NcclReader {
 public:
  explicit NcclReader(const std::string& name) { machine_.source = name; }

  absl::StatusOr<Machine> Read(const XmlElement& system) {
    if (system.name != "system") {
      return Error(system, absl::StrCat("<", EscapeControl(system.name),
                                        "> where NCCL's <system> should be"));
    }
    for (const XmlElement& child : system.children) {
      if (child.name == "cpu") {
        RETURN_IF_ERROR(TakeCpu(child));
      }
    }
    if (machine_.cores.empty()) {
      return Error(system, "no <cpu> names hardware threads in its affinity");
    }
    std::sort(machine_.cores.begin(), machine_.cores.end(),
              [](const Core& a, const Core& b) { return a.cpus.First() < b.cpus.First(); });
    RETURN_IF_ERROR(NumberGpus(system));
    AddDevices();
    AddLinks();
    machine_.remarks.push_back(
        absl::StrCat(machine_.source,
                     " does not say which threads share a core, nor how much memory there is: "
                     "each thread counts as a core, each NUMA node as 1 GiB"));
    return std::move(machine_);
  }

 private:
  absl::Status Error(const XmlElement& element, const std::string& what) const {
    return absl::InvalidArgumentError(absl::StrCat(machine_.source, ":", element.line, ": ", what));
  }

  absl::Status TakeCpu(const XmlElement& cpu) {
    const auto index = ReadNumber<std::int64_t>(Value(cpu, "numaid"), 10);
    if (!index.has_value() || *index < -1 || *index > kNumaMax) {
      return Error(cpu, absl::StrCat("numaid=\"", EscapeControl(Value(cpu, "numaid")),
                                     "\" is no NUMA node: use a number from 0"));
    }
    const std::optional<CpuSet> cpus = ReadMask(Value(cpu, "affinity"));
    if (!cpus.has_value()) {
      return Error(cpu, absl::StrCat("affinity=\"", EscapeControl(Value(cpu, "affinity")),
                                     "\" is no mask: use hexadecimal words like ffff,0000ffff"));
    }
    const auto os_index = static_cast<std::uint32_t>(std::max<std::int64_t>(*index, 0));
    if (!seen_nodes_.insert(os_index).second) {
      return Error(cpu, absl::StrCat("NUMA node ", os_index, " is there twice"));
    }
    if (cpus->Meets(AllCpus(machine_))) {
      return Error(cpu, absl::StrCat("NUMA node ", os_index,
                                     " has hardware threads of another one in its affinity"));
    }
    const auto numa = static_cast<std::uint32_t>(machine_.numa_nodes.size());
    machine_.numa_nodes.push_back({os_index, *cpus, kGibibyte});
    machine_.memory += kGibibyte;
    for (const std::uint32_t thread : cpus->Members()) {
      machine_.cores.push_back({thread, CpuSet::Of({thread}), numa, kNowhere, kNowhere});
    }
    return TakeChildren(cpu, numa, {&cpu});
  }

  absl::Status TakeChildren(const XmlElement& parent, std::uint32_t numa,
                            const std::vector<const XmlElement*>& above) {
    for (const XmlElement& child : parent.children) {
      if (child.name == "pci") {
        RETURN_IF_ERROR(TakePci(child, numa, above));
      } else if (child.name == "nic" && parent.name == "cpu") {
        Device nic;  // a NIC without a PCI device, as virtual machines have them
        nic.numa = numa;
        nic.above = above;
        TakeNic(child, std::move(nic));
      }
    }
    return absl::OkStatus();
  }

  absl::Status TakePci(const XmlElement& pci, std::uint32_t numa,
                       const std::vector<const XmlElement*>& above) {
    Device device;
    device.address = absl::AsciiStrToLower(Value(pci, "busid"));
    device.numa = numa;
    device.above = above;
    if (device.address.empty()) {
      return Error(pci, "a <pci> without a busid");
    }
    if (!seen_addresses_.insert(device.address).second) {
      return Error(pci,
                   absl::StrCat("PCI device ", EscapeControl(device.address), " is there twice"));
    }
    const std::uint32_t kind = ClassOf(Value(pci, "class"));
    if (kind == kDisplay || kind == kThreeD) {
      return TakeGpu(pci, std::move(device));
    }
    if (kind == kInfiniBand || kind == kEthernet) {
      const auto nic = std::find_if(pci.children.begin(), pci.children.end(),
                                    [](const XmlElement& child) { return child.name == "nic"; });
      TakeNic(nic == pci.children.end() ? pci : *nic, std::move(device));
      return absl::OkStatus();
    }
    std::vector<const XmlElement*> longer = {&pci};
    longer.insert(longer.end(), above.begin(), above.end());
    return TakeChildren(pci, numa, longer);
  }

  absl::Status TakeGpu(const XmlElement& pci, Device device) {
    device.model =
        Value(pci, "device").empty()
            ? ""
            : absl::StrCat("NVIDIA ", Value(pci, "vendor").substr(0, 6), ":", Value(pci, "device"));
    for (const XmlElement& gpu : pci.children) {
      if (gpu.name != "gpu") {
        continue;
      }
      device.number = ReadNumber<std::uint32_t>(Value(gpu, "dev"), 10);
      device.sm = ReadNumber<std::uint32_t>(Value(gpu, "sm"), 10).value_or(0);
      for (const XmlElement& nvlink : gpu.children) {
        if (nvlink.name != "nvlink") {
          continue;
        }
        const auto lanes = ReadNumber<std::uint32_t>(Value(nvlink, "count"), 10);
        if (!lanes.has_value() || *lanes == 0 || *lanes > 64) {
          return Error(nvlink, absl::StrCat("count=\"", EscapeControl(Value(nvlink, "count")),
                                            "\" is no number of NVLinks: use 1 to 64"));
        }
        device.bonds.push_back({absl::AsciiStrToLower(Value(nvlink, "target")),
                                ClassOf(Value(nvlink, "tclass")), *lanes});
      }
    }
    gpus_.push_back(std::move(device));
    return absl::OkStatus();
  }

  // `element` holds the <net>s, or is the <pci> that has none.
  void TakeNic(const XmlElement& element, Device device) {
    for (const XmlElement& net : element.children) {
      if (net.name == "net" && device.name.empty()) {
        device.name = Value(net, "name");
      }
    }
    device.name = device.name.empty() ? device.address : device.name;
    if (!device.name.empty()) {
      nics_.push_back(std::move(device));
    }
  }

  // The `dev` of each where all have one of their own, else the order of PCI addresses.
  absl::Status NumberGpus(const XmlElement& system) {
    std::set<std::uint32_t> numbers;
    for (const Device& gpu : gpus_) {
      if (gpu.number.has_value() && !numbers.insert(*gpu.number).second) {
        return Error(system, absl::StrCat("two GPUs have dev=\"", *gpu.number, "\""));
      }
    }
    const bool all = numbers.size() == gpus_.size();
    std::sort(gpus_.begin(), gpus_.end(), [all](const Device& a, const Device& b) {
      return all ? *a.number < *b.number : a.address < b.address;
    });
    for (std::uint32_t i = 0; i < gpus_.size(); ++i) {
      gpus_[i].number = all ? *gpus_[i].number : i;
    }
    return absl::OkStatus();
  }

  void AddDevices() {
    const std::string file = machine_.source.substr(machine_.source.rfind('/') + 1);
    for (const Device& gpu : gpus_) {
      Gpu made;
      made.os_index = *gpu.number;
      made.uuid = absl::StrCat("GPU-", file, "-", *gpu.number);
      made.model = gpu.model;
      made.pci_address = gpu.address;
      made.numa = gpu.numa;
      machine_.gpus.push_back(std::move(made));
    }
    for (const Device& nic : nics_) {
      machine_.nics.push_back({nic.name, nic.address, nic.numa, IsFabricName(nic.name)});
    }
  }

  [[nodiscard]] LinkKind WayBetween(const Device& a, const Device& b) const {
    for (std::size_t i = 0; i < a.above.size(); ++i) {
      const auto meet = std::find(b.above.begin(), b.above.end(), a.above[i]);
      if (meet == b.above.end()) {
        continue;
      }
      if (a.above[i]->name == "cpu") {
        return LinkKind::kHostBridge;
      }
      const auto deepest =
          std::max<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(i), meet - b.above.begin());
      return deepest <= 1 ? LinkKind::kSwitch : LinkKind::kBridges;
    }
    return LinkByNuma(machine_, a.numa, b.numa);
  }

  static std::uint64_t LaneBandwidth(const Device& gpu) {
    constexpr std::uint32_t kPascal = 60;
    constexpr std::uint32_t kVolta = 70;
    constexpr std::uint32_t kBlackwell = 100;
    if (gpu.sm >= kPascal && gpu.sm < kVolta) {
      return NvLinkLaneBandwidth("P100");
    }
    return NvLinkLaneBandwidth(gpu.sm >= kBlackwell ? "B100" : gpu.model);
  }

  static std::uint32_t Lanes(const Device& from, const std::string& to) {
    std::uint32_t lanes = 0;
    for (const Bond& bond : from.bonds) {
      lanes += to.empty() ? (bond.target_class == kNvSwitch ? bond.lanes : 0)
                          : (bond.target == to ? bond.lanes : 0);
    }
    return lanes;
  }

  void AddLinks() {
    for (std::uint32_t a = 0; a < gpus_.size(); ++a) {
      if (Lanes(gpus_[a], gpus_[a].address) > 0) {
        machine_.remarks.push_back(absl::StrCat(machine_.source, ": GPU ", *gpus_[a].number,
                                                " has NVLinks to itself: they are left out"));
      }
      for (std::uint32_t b = a + 1; b < gpus_.size(); ++b) {
        DeviceLink link{a, b, WayBetween(gpus_[a], gpus_[b]), 0, 0};
        const std::uint32_t direct =
            std::max(Lanes(gpus_[a], gpus_[b].address), Lanes(gpus_[b], gpus_[a].address));
        link.lanes = std::max(direct, std::min(Lanes(gpus_[a], ""), Lanes(gpus_[b], "")));
        if (link.lanes > 0) {
          link.kind = LinkKind::kNvLink;
          link.bandwidth = link.lanes * LaneBandwidth(gpus_[a]);
        }
        machine_.gpu_links.push_back(link);
      }
      for (std::uint32_t b = 0; b < nics_.size(); ++b) {
        machine_.nic_links.push_back({a, b, WayBetween(gpus_[a], nics_[b]), 0, 0});
      }
    }
  }

  Machine machine_;
  std::vector<Device> gpus_;
  std::vector<Device> nics_;
  std::set<std::uint32_t> seen_nodes_;
  std::set<std::string> seen_addresses_;
};

}  // namespace

absl::StatusOr<Machine> ParseNcclXml(const std::string& text, const std::string& name) {
  ASSIGN_OR_RETURN(const XmlElement root, ParseXml(text, name));
  return NcclReader(name).Read(root);
}

}  // namespace muster::topology

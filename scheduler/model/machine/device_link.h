#pragma once

// How near two devices of one machine are to each other, in the words of `nvidia-smi topo -m`.
//
// Invariants: a higher LinkKind is a better way; of two NVLinks the one with more bandwidth is.

#include <cstdint>
#include <tuple>

#include "scheduler/model/value/fields.h"

namespace muster {

enum class LinkKind : std::uint8_t {
  kUnknown = 0,
  kSystem = 1,      // SYS: through the interconnect between NUMA nodes
  kNode = 2,        // NODE: between PCIe host bridges of one NUMA node
  kHostBridge = 3,  // PHB: through a PCIe host bridge, which is the processor
  kBridges = 4,     // PXB: through several PCIe bridges
  kSwitch = 5,      // PIX: through one PCIe bridge at most
  kNvLink = 6,      // NV#: a bonded set of NVLinks (AMD: XGMI), direct or through NVSwitches
};

// The way between two GPUs, or between a GPU and a NIC.
struct DeviceLink {
  std::uint32_t a = 0;  // position in Machine::gpus
  std::uint32_t b = 0;  // of gpu_links: position in Machine::gpus, above a; of nic_links: in nics
  LinkKind kind = LinkKind::kUnknown;
  std::uint32_t lanes = 0;      // bonded NVLinks; 0: unknown
  std::uint64_t bandwidth = 0;  // MB/s in one direction; 0: unknown
  static constexpr auto Fields(auto list) {
    return list(Field{"a", &DeviceLink::a}, Field{"b", &DeviceLink::b},
                Field{"kind", &DeviceLink::kind}, Field{"lanes", &DeviceLink::lanes},
                Field{"bandwidth", &DeviceLink::bandwidth});
  }
  friend bool operator==(const DeviceLink&, const DeviceLink&) = default;
};

// A number that is higher for the better link. PCIe paths compare by kind alone.
constexpr std::uint64_t LinkQuality(const DeviceLink& link) {
  constexpr unsigned kKindShift = 56;
  constexpr std::uint64_t kMost = (std::uint64_t{1} << kKindShift) - 1;
  const std::uint64_t base = static_cast<std::uint64_t>(link.kind) << kKindShift;
  if (link.kind != LinkKind::kNvLink) {
    return base;
  }
  const std::uint64_t amount = link.bandwidth > 0 ? link.bandwidth : link.lanes;
  return base + (amount < kMost ? amount : kMost);
}

// The kind that a quality stands for.
constexpr LinkKind KindOf(std::uint64_t quality) {
  return static_cast<LinkKind>(quality >> 56U);
}

// nvidia-smi's word: "PIX"; "NV" without its number for an NVLink.
constexpr const char* Name(LinkKind kind) {
  switch (kind) {
    case LinkKind::kUnknown:
      return "?";
    case LinkKind::kSystem:
      return "SYS";
    case LinkKind::kNode:
      return "NODE";
    case LinkKind::kHostBridge:
      return "PHB";
    case LinkKind::kBridges:
      return "PXB";
    case LinkKind::kSwitch:
      return "PIX";
    case LinkKind::kNvLink:
      return "NV";
  }
  return "?";
}

}  // namespace muster

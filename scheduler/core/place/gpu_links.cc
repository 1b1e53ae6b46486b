#include "scheduler/core/place/gpu_links.h"

#include <algorithm>

namespace muster::core {
namespace {

LinkKind KindByNuma(const Machine& machine, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t left = machine.gpus[a].numa;
  const std::uint32_t right = machine.gpus[b].numa;
  if (machine.numa_nodes.size() <= 1) {
    return LinkKind::kNode;
  }
  if (left == kNowhere || right == kNowhere) {
    return LinkKind::kUnknown;
  }
  return left == right ? LinkKind::kNode : LinkKind::kSystem;
}

DeviceLink LinkOf(const Machine& machine, std::uint32_t a, std::uint32_t b) {
  const auto found =
      std::find_if(machine.gpu_links.begin(), machine.gpu_links.end(),
                   [a, b](const DeviceLink& link) { return link.a == a && link.b == b; });
  return found != machine.gpu_links.end() ? *found
                                          : DeviceLink{a, b, KindByNuma(machine, a, b), 0, 0};
}

}  // namespace

GpuLinkTable::GpuLinkTable(const Machine& machine)
    : count_(machine.gpus.size()), qualities_(count_ * count_, kNoLink) {
  for (std::uint32_t a = 0; a < count_; ++a) {
    for (std::uint32_t b = a + 1; b < count_; ++b) {
      const std::uint64_t quality = LinkQuality({a, b, KindByNuma(machine, a, b), 0, 0});
      qualities_[a * count_ + b] = qualities_[b * count_ + a] = quality;
    }
  }
  for (const DeviceLink& link : machine.gpu_links) {
    if (link.a < count_ && link.b < count_) {
      qualities_[link.a * count_ + link.b] = qualities_[link.b * count_ + link.a] =
          LinkQuality(link);
    }
  }
}

std::optional<DeviceLink> WeakestLink(const Machine& machine,
                                      const std::vector<std::uint32_t>& gpus) {
  std::optional<DeviceLink> weakest;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (std::size_t j = i + 1; j < gpus.size(); ++j) {
      const DeviceLink link =
          LinkOf(machine, std::min(gpus[i], gpus[j]), std::max(gpus[i], gpus[j]));
      if (!weakest.has_value() || LinkQuality(link) < LinkQuality(*weakest)) {
        weakest = link;
      }
    }
  }
  return weakest;
}

}  // namespace muster::core

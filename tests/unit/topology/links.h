#pragma once

// How the tests of topology's readers name the links of a machine.

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/model/machine/machine.h"

namespace muster::topology::testing {

// "NV18", "PIX", or "?" where the pair has no link.
inline std::string LinkText(const std::vector<DeviceLink>& links, std::uint32_t a,
                            std::uint32_t b) {
  const auto link = std::find_if(links.begin(), links.end(),
                                 [a, b](const DeviceLink& l) { return l.a == a && l.b == b; });
  if (link == links.end()) {
    return "?";
  }
  return link->lanes > 0 ? absl::StrCat(Name(link->kind), link->lanes) : Name(link->kind);
}

inline std::string GpuLink(const Machine& machine, std::uint32_t a, std::uint32_t b) {
  return LinkText(machine.gpu_links, a, b);
}

inline std::string NicLink(const Machine& machine, std::uint32_t gpu, std::uint32_t nic) {
  return LinkText(machine.nic_links, gpu, nic);
}

inline bool HasRemark(const Machine& machine, const std::string& piece) {
  return std::any_of(
      machine.remarks.begin(), machine.remarks.end(),
      [&piece](const std::string& remark) { return remark.find(piece) != std::string::npos; });
}

}  // namespace muster::topology::testing

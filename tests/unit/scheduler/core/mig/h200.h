#pragma once

// What MIG makes of an H200, as its NVML tells: profiles and places.

#include <string>
#include <vector>

#include "scheduler/model/machine/machine.h"
#include "scheduler/model/machine/mig.h"

namespace muster::core::testing {

inline std::vector<MigProfile> H200Profiles() {
  const auto at = [](std::vector<std::uint32_t> starts, std::uint32_t size) {
    std::vector<MigPlacement> placements;
    for (const std::uint32_t start : starts) {
      placements.push_back({start, size});
    }
    return placements;
  };
  return {{"1g.18gb", 19, 1, 7, kMebibyte * 16384, at({0, 1, 2, 3, 4, 5, 6}, 1)},
          {"2g.35gb", 14, 2, 3, kMebibyte * 33280, at({0, 2, 4}, 2)},
          {"3g.71gb", 9, 3, 2, kMebibyte * 71424, at({0, 4}, 4)},
          {"4g.71gb", 5, 4, 1, kMebibyte * 71424, at({0}, 4)},
          {"7g.141gb", 0, 7, 1, kMebibyte * 143360, at({0}, 8)},
          {"1g.18gb+me", 20, 1, 1, kMebibyte * 16384, at({0, 1, 2, 3, 4, 5, 6}, 1)},
          {"1g.35gb", 15, 1, 4, kMebibyte * 33280, at({0, 2, 4, 6}, 2)}};
}

// GPUs of that kind, undivided; MIG can divide each.
inline void AddH200s(std::uint32_t count, Machine& machine) {
  for (std::uint32_t i = 0; i < count; ++i) {
    Gpu gpu;
    gpu.os_index = i;
    gpu.uuid = "GPU-" + std::to_string(i);
    gpu.model = "NVIDIA H200";
    gpu.memory = kMebibyte * 143771;
    machine.gpus.push_back(gpu);
    machine.mig.push_back({gpu, H200Profiles()});
  }
}

}  // namespace muster::core::testing

#pragma once

// What makers' data sheets say of usual GPUs.
//
// Speed is that of dense matrices of 16-bit numbers, without sparsity; watts are the board's limit.
// A part of an MI250X is one of its two dies, which systems see as a GPU each. Constants; pure.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace muster::core {

struct GpuSheet {
  const char* name = "";
  std::uint64_t memory_gib = 0;
  double flops = 0;             // floating-point operations a second
  double bytes_per_second = 0;  // of its memory
  double watts = 0;
};

// From the smallest memory to the largest.
const std::vector<GpuSheet>& GpuSheets();

// Nothing for a name that no sheet has.
std::optional<GpuSheet> FindGpuSheet(std::string_view name);

}  // namespace muster::core

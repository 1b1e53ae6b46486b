#pragma once

// Job arrays as people write them: "0-99%10", "1,3,5-9:2"; and lists of their elements.
//
// Pure; errors as in number.h. Invariants of an accepted array: first <= last <= kArrayIndexMax in
// each range, last lies on the step's grid, no index is named twice, at most kArrayElementsMax
// elements.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/model/job/job_spec.h"

namespace muster::cli {

inline constexpr std::uint32_t kArrayIndexMax = 4'000'000;
inline constexpr std::uint32_t kArrayElementsMax = 1'000'000;

absl::StatusOr<ArraySpec> ParseArray(std::string_view text);

// Every index of `array`, ascending. REQUIRES: an accepted array.
std::vector<std::uint32_t> ArrayIndices(const ArraySpec& array);

}  // namespace muster::cli

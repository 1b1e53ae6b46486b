#pragma once

// Job arrays: which index the n-th element has.
//
// Elements are counted through the ranges in the order in which they were written. Thread promise: pure.
// Invariants: ElementIndexAt is defined for ordinals below ElementCount.

#include <cstdint>

#include "scheduler/base/status.h"
#include "scheduler/model/job_spec.h"

namespace muster {

// How many indices one range holds. REQUIRES: step >= 1 and first <= last.
inline std::uint64_t RangeCount(const ArrayRange& range) {
  return (std::uint64_t{range.last} - range.first) / range.step + 1;
}

// How many elements the array has.
inline std::uint64_t ElementCount(const ArraySpec& array) {
  std::uint64_t count = 0;
  for (const ArrayRange& range : array.ranges) {
    count += RangeCount(range);
  }
  return count;
}

// The array index of the element with this ordinal, from 0. REQUIRES: ordinal < ElementCount(array).
inline std::uint32_t ElementIndexAt(const ArraySpec& array, std::uint32_t ordinal) {
  std::uint64_t rest = ordinal;
  for (const ArrayRange& range : array.ranges) {
    const std::uint64_t count = RangeCount(range);
    if (rest < count) {
      return static_cast<std::uint32_t>(range.first + rest * range.step);
    }
    rest -= count;
  }
  MUSTER_CHECK(false && "ordinal is below ElementCount");
  return 0;
}

}  // namespace muster

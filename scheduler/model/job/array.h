#pragma once

// The elements of an array: how many there are, and which index the n-th has.
//
// An array's element has the id first + ordinal; ordinals run through the ranges in the order in
// which they were written. Invariants: (1) a range that holds nothing (step 0, last < first) has no
// element, so both functions are safe on a spec that was not validated; (2) distinct ordinals name
// distinct indices once core/handle/submit/validate refused duplicates.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "scheduler/base/status.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/value/ids.h"

namespace muster {

// How many indices one range holds.
constexpr std::uint64_t RangeCount(const ArrayRange& range) {
  if (range.step == 0 || range.last < range.first) {
    return 0;
  }
  return std::uint64_t{(range.last - range.first) / range.step} + 1;
}

// How many elements the array has; the largest std::uint32_t when there are more.
inline std::uint32_t ElementCount(const ArraySpec& array) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t count = 0;
  for (const ArrayRange& range : array.ranges) {
    count = std::min(kMost, count + RangeCount(range));
  }
  return static_cast<std::uint32_t>(count);
}

// Calls visit(index) for each element, in order.
template <class Visitor>
void ForEachElement(const ArraySpec& array, Visitor&& visit) {
  for (const ArrayRange& range : array.ranges) {
    const std::uint64_t count = RangeCount(range);
    for (std::uint64_t i = 0; i < count; ++i) {
      visit(static_cast<std::uint32_t>(range.first + i * range.step));
    }
  }
}

// The array index of element `ordinal`, counted from 0. REQUIRES: ordinal < ElementCount(array).
inline std::uint32_t ElementIndexAt(const ArraySpec& array, std::uint32_t ordinal) {
  std::uint64_t left = ordinal;
  for (const ArrayRange& range : array.ranges) {
    const std::uint64_t count = RangeCount(range);
    if (left < count) {
      return range.first + static_cast<std::uint32_t>(left) * range.step;
    }
    left -= count;
  }
  MUSTER_CHECK(false && "ordinal < ElementCount(array)");
}

// The array index of the element `id` of the array that was submitted as `submission`. REQUIRES: it
// is one.
inline std::uint32_t IndexOfElement(const ArraySpec& array, JobId submission, JobId id) {
  return ElementIndexAt(array, static_cast<std::uint32_t>(id.value() - submission.value()));
}

// Which element has the array index; nothing when none has.
inline std::optional<std::uint32_t> OrdinalOf(const ArraySpec& array, std::uint32_t index) {
  std::uint64_t before = 0;
  for (const ArrayRange& range : array.ranges) {
    const std::uint64_t count = RangeCount(range);
    if (count > 0 && index >= range.first && (index - range.first) % range.step == 0 &&
        (index - range.first) / range.step < count) {
      return static_cast<std::uint32_t>(before + (index - range.first) / range.step);
    }
    before += count;
  }
  return std::nullopt;
}

// The indices of `count` elements from `ordinal` on. REQUIRES: the array has them.
inline std::vector<ArrayRange> IndicesFrom(const ArraySpec& array, std::uint32_t ordinal,
                                           std::uint32_t count) {
  std::vector<ArrayRange> indices;
  std::uint64_t skip = ordinal;
  std::uint64_t left = count;
  for (const ArrayRange& range : array.ranges) {
    const std::uint64_t held = RangeCount(range);
    const std::uint64_t before = std::min(skip, held);
    const std::uint64_t taken = std::min(left, held - before);
    skip -= before;
    left -= taken;
    if (taken > 0) {
      const auto first = static_cast<std::uint32_t>(range.first + before * range.step);
      const auto last = static_cast<std::uint32_t>(first + (taken - 1) * range.step);
      indices.push_back(ArrayRange{first, last, range.step});
    }
  }
  MUSTER_CHECK(left == 0);
  return indices;
}

}  // namespace muster

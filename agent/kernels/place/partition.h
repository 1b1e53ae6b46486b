#pragma once

// How a kernel cuts an index space: contiguous blocks whose sizes differ by at most one grain.
// The same cut serves first touch, work and check, so that a thread or rank meets its own memory
// again.
//
// Invariant: the blocks of index 0..parts-1 cover [0, n) exactly once, in order; trailing blocks
// may be empty.

#include <algorithm>
#include <cstdint>

namespace muster::kernels {

// Half-open range of indices.
struct IndexRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
  bool operator==(const IndexRange&) const = default;
};

// Block `index` of `parts` blocks of [0, n). Cuts fall on multiples of `grain` (elements of a cache
// line, say). REQUIRES: n >= 0, parts >= 1, 0 <= index < parts, grain >= 1.
inline IndexRange BlockRange(int64_t n, int64_t parts, int64_t index, int64_t grain = 1) {
  const int64_t grains = n / grain + (n % grain != 0 ? 1 : 0);
  const int64_t base = grains / parts;
  const int64_t extra = grains % parts;
  const int64_t begin = index * base + std::min(index, extra);
  const int64_t end = begin + base + (index < extra ? 1 : 0);
  return {std::min(begin * grain, n), std::min(end * grain, n)};
}

}  // namespace muster::kernels

#pragma once

// A set of numbers, kept as runs: the elements of an array that did something.
//
// Elements end nearly in order, so a million of them are a few runs. Invariants: runs ascend and
// neither overlap nor touch, so equal sets are equal values.

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "scheduler/model/value/fields.h"

namespace muster {

struct IndexRun {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  static constexpr auto Fields(auto list) {
    return list(Field{"first", &IndexRun::first}, Field{"last", &IndexRun::last});
  }
  friend bool operator==(const IndexRun&, const IndexRun&) = default;
};

struct IndexRanges {
  std::vector<IndexRun> runs;
  static constexpr auto Fields(auto list) { return list(Field{"runs", &IndexRanges::runs}); }
  friend bool operator==(const IndexRanges&, const IndexRanges&) = default;

  [[nodiscard]] bool Contains(std::uint32_t index) const {
    const auto after = After(index);
    return after != runs.begin() && index <= std::prev(after)->last;
  }
  void Insert(std::uint32_t index) {
    if (Contains(index)) {
      return;
    }
    const auto after = runs.begin() + (After(index) - runs.begin());
    const bool joins_next = after != runs.end() && after->first - 1 == index;
    const bool joins_before = after != runs.begin() && std::prev(after)->last + 1 == index;
    if (joins_before && joins_next) {
      std::prev(after)->last = after->last;
      runs.erase(after);
    } else if (joins_before) {
      std::prev(after)->last = index;
    } else if (joins_next) {
      after->first = index;
    } else {
      runs.insert(after, IndexRun{index, index});
    }
  }

 private:
  // The first run that begins after `index`.
  [[nodiscard]] std::vector<IndexRun>::const_iterator After(std::uint32_t index) const {
    return std::upper_bound(
        runs.begin(), runs.end(), index,
        [](std::uint32_t value, const IndexRun& run) { return value < run.first; });
  }
};

}  // namespace muster

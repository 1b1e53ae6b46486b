#include "scheduler/simulator/flat/processor_map.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::sim {

ProcessorRanges ProcessorMap::Take(std::int64_t count) {
  ProcessorRanges ranges;
  while (count > 0) {
    MUSTER_CHECK(!free_.empty());
    const auto lowest = free_.begin();
    const auto [first, last] = *lowest;
    const std::int64_t taken = std::min(count, last - first + 1);
    free_.erase(lowest);
    if (first + taken <= last) {
      free_.emplace(first + taken, last);
    }
    ranges.emplace_back(first, first + taken - 1);
    count -= taken;
  }
  return ranges;
}

void ProcessorMap::Give(const ProcessorRanges& ranges) {
  for (const auto& [first, last] : ranges) {
    auto next = free_.upper_bound(first);
    MUSTER_CHECK(next == free_.end() || next->first > last);
    std::int64_t end = last;
    if (next != free_.end() && next->first == last + 1) {
      end = next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      const auto before = std::prev(next);
      MUSTER_CHECK(before->second < first);
      if (before->second == first - 1) {
        before->second = end;
        continue;
      }
    }
    free_.emplace_hint(next, first, end);
  }
}

void AppendRanges(const ProcessorRanges& ranges, std::string* text) {
  const char* gap = "";
  for (const auto& [first, last] : ranges) {
    first == last ? absl::StrAppend(text, gap, first)
                  : absl::StrAppend(text, gap, first, "-", last);
    gap = " ";
  }
}

}  // namespace muster::sim

#include "cli/parse/array.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "cli/parse/number.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

absl::Status NotAnArray(std::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(Quote(text),
                                                 " is not an array: use indices from 0 to ",
                                                 kArrayIndexMax, " like 0-99%10 or 1,3,5-9:2"));
}

// FIRST, FIRST-LAST or FIRST-LAST:STEP.
absl::StatusOr<ArrayRange> ParseRange(std::string_view text) {
  const std::size_t dash = text.find('-');
  ASSIGN_OR_RETURN(const std::uint64_t first, ParseDigits(text.substr(0, dash), kArrayIndexMax));
  std::uint64_t last = first;
  std::uint64_t step = 1;
  if (dash != std::string_view::npos) {
    const std::string_view rest = text.substr(dash + 1);
    const std::size_t colon = rest.find(':');
    ASSIGN_OR_RETURN(last, ParseDigits(rest.substr(0, colon), kArrayIndexMax));
    if (colon != std::string_view::npos) {
      ASSIGN_OR_RETURN(step, ParseDigits(rest.substr(colon + 1), kArrayIndexMax));
    }
  }
  if (last < first || step == 0) {
    return absl::InvalidArgumentError("");
  }
  last = first + (last - first) / step * step;
  if (last == first) {
    step = 1;
  }
  return ArrayRange{.first = static_cast<std::uint32_t>(first),
                    .last = static_cast<std::uint32_t>(last),
                    .step = static_cast<std::uint32_t>(step)};
}

absl::StatusOr<std::vector<ArrayRange>> ParseRanges(std::string_view text) {
  std::vector<ArrayRange> ranges;
  for (;;) {
    const std::size_t comma = text.find(',');
    ASSIGN_OR_RETURN(const ArrayRange range, ParseRange(text.substr(0, comma)));
    ranges.push_back(range);
    if (comma == std::string_view::npos) {
      return ranges;
    }
    text.remove_prefix(comma + 1);
  }
}

std::uint64_t Count(const std::vector<ArrayRange>& ranges) {
  std::uint64_t count = 0;
  for (const ArrayRange& range : ranges) {
    count += (range.last - range.first) / range.step + 1;
  }
  return count;
}

}  // namespace

absl::StatusOr<ArraySpec> ParseArray(std::string_view text) {
  ArraySpec array;
  const std::size_t percent = text.find('%');
  absl::StatusOr<std::vector<ArrayRange>> ranges = ParseRanges(text.substr(0, percent));
  if (!ranges.ok()) {
    return NotAnArray(text);
  }
  array.ranges = *std::move(ranges);
  if (percent != std::string_view::npos) {
    const absl::StatusOr<std::uint32_t> throttle = ParseCount(text.substr(percent + 1));
    if (!throttle.ok()) {
      return NotAnArray(text);
    }
    array.max_running = *throttle;
  }
  if (Count(array.ranges) > kArrayElementsMax) {
    return absl::InvalidArgumentError(absl::StrCat(Quote(text), " has ", Count(array.ranges),
                                                   " elements: use at most ", kArrayElementsMax));
  }
  if (array.ranges.size() == 1) {
    return array;
  }
  const std::vector<std::uint32_t> indices = ArrayIndices(array);
  const auto twice = std::adjacent_find(indices.begin(), indices.end());
  if (twice != indices.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(text), " names index ", *twice, " twice: name each once"));
  }
  return array;
}

std::vector<std::uint32_t> ArrayIndices(const ArraySpec& array) {
  std::vector<std::uint32_t> indices;
  indices.reserve(Count(array.ranges));
  for (const ArrayRange& range : array.ranges) {
    for (std::uint32_t index = range.first; index <= range.last; index += range.step) {
      indices.push_back(index);
    }
  }
  if (!std::is_sorted(indices.begin(), indices.end())) {
    std::sort(indices.begin(), indices.end());
  }
  return indices;
}

}  // namespace muster::cli

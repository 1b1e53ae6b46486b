// Job arrays: an accepted one is bounded, names no index twice and reads back.
// Returns 1 when an invariant of the parser is broken; crashes are the sanitizers' to find.

#include <algorithm>
#include <cstdint>
#include <string>

#include "cli/parse/array.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<muster::ArraySpec> array = muster::ParseArray(text);
  if (!array.ok()) {
    return 0;
  }
  const std::vector<std::uint32_t> indices = muster::ArrayIndices(*array);
  const bool sound = !indices.empty() && indices.size() <= muster::kArrayElementsMax &&
                     indices.back() <= muster::kArrayIndexMax &&
                     std::adjacent_find(indices.begin(), indices.end()) == indices.end() &&
                     muster::ParseArray(muster::FormatArray(*array)).value() == *array;
  return sound ? 0 : 1;
}

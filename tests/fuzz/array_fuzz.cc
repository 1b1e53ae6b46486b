// Job arrays: an accepted one is bounded and names no index twice.
// Returns 1 when an invariant of the parser is broken; crashes are the sanitizers' to find.

#include <algorithm>
#include <cstdint>
#include <string>

#include "cli/parse/array.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<muster::ArraySpec> array = muster::cli::ParseArray(text);
  if (!array.ok()) {
    return 0;
  }
  const std::vector<std::uint32_t> indices = muster::cli::ArrayIndices(*array);
  const bool sound = !indices.empty() && indices.size() <= muster::cli::kArrayElementsMax &&
                     indices.back() <= muster::cli::kArrayIndexMax &&
                     std::adjacent_find(indices.begin(), indices.end()) == indices.end();
  return sound ? 0 : 1;
}

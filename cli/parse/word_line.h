#pragma once

// A line of words as a shell's user writes them: blanks between, quotes around, a backslash before
// what would mean something else. Nothing is expanded.
//
// Pure. Invariant: words that were quoted, also empty ones, are kept as they stood.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::cli {

// The words of the line; none of a blank line or one that is a comment ("# …").
absl::StatusOr<std::vector<std::string>> ParseWordLine(std::string_view line);

}  // namespace muster::cli

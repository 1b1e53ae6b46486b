#pragma once

// Host lists: many node names in one short text, "n[1-8,12],big".
//
// Pure. Thread promise: safe from any thread. Invariants: zeros in front are kept ("n[01-03]"), and
// no text makes more than kHostListMax names.

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace muster {

inline constexpr std::size_t kHostListMax = 65536;

// The names, in order, each once. InvalidArgument is one line that names the offending piece.
absl::StatusOr<std::vector<std::string>> ExpandHostList(const std::string& text);

}  // namespace muster

#pragma once

// A document in YAML, or in JSON, which is read as JSON.
//
// Pure. Invariant: what is returned has a bounded depth and size, also where a document refers to
// its own parts.

#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace muster::agent {

// Plain scalars of YAML become texts, but for true, false, null and whole numbers.
absl::StatusOr<nlohmann::json> ParseJsonOrYaml(const std::string& text);

}  // namespace muster::agent

#pragma once

// What the health program prints, as figures.
//
// The document is the last line that is an object: {"figures":[{"component","unit","better",
// "value","roof"}]}, better being higher, lower, never or shown.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/model/machine/health.h"

namespace muster::agent {

// An error has the last words of the program.
absl::StatusOr<std::vector<HealthFigure>> ReadHealthDocument(const std::string& text);

}  // namespace muster::agent

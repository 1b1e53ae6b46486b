#pragma once

// A bundled kernel run to its end, and what it reported.
//
// Thread promise: any thread; waits for the child. Invariant: a kernel that failed, found
// its own result wrong or printed no document is an error that carries its last words.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/environment.h"
#include "cli/frame/json_output.h"

namespace muster::cli {

// Variables that replace those of the environment: "NAME=value"; "NAME" alone removes one.
using Variables = std::vector<std::string>;

// Runs `words` (a program's path and its arguments) and reads the JSON document that it prints on
// its standard output. Unavailable: why it cannot measure where it ran, in its own words.
absl::StatusOr<Json> MeasureKernel(const std::vector<std::string>& words,
                                   const Environment& environment, const Variables& variables);

// The entries of `environment` with `variables` in place.
std::vector<std::string> Replaced(const Environment& environment, const Variables& variables);

}  // namespace muster::cli

#pragma once

// Variables of a job that come from elsewhere than the submitter's environment: a file, or a login.
//
// Thread promise: any thread; LoginVariables waits for a shell. Invariant: every entry is
// NAME=VALUE in UTF-8.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/environment.h"

namespace muster::cli {

// The variables in the file `name` (--export-file), a NUL byte after each; a number from 3 on is
// an open descriptor. InvalidArgument names the entry that is none.
absl::StatusOr<std::vector<std::string>> VariablesIn(const std::string& name);

// What a login of ours sets (--get-user-env): the user's login shell is run for it, for no longer
// than 8 seconds.
absl::StatusOr<std::vector<std::string>> LoginVariables(const Environment& environment);

// Adds those of `more` whose names `variables` lacks.
void AddMissing(const std::vector<std::string>& more, std::vector<std::string>* variables);

}  // namespace muster::cli

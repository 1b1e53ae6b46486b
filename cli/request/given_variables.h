#pragma once

// Variables of a job that come from elsewhere than the submitter's environment: a file, or a login.
//
// Thread promise: any thread; LoginVariables waits for a shell. Invariant: every entry is
// NAME=VALUE in UTF-8.

#include <chrono>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/environment.h"

namespace muster::cli {

// The variables in the file `name` (--export-file), a NUL byte after each; a number from 3 on is
// an open descriptor. InvalidArgument names the entry that is none.
absl::StatusOr<std::vector<std::string>> VariablesIn(const std::string& name);

// The program that a user logs in with, and what it finds in its environment.
struct Login {
  std::string shell;
  std::vector<std::string> environment;
};

// Ours, by the password file; TERM as it is here.
absl::StatusOr<Login> OwnLogin(const Environment& environment);

// What such a login sets (--get-user-env): the shell is run for it, for no longer than `patience`.
// Then it is asked to end, and ended a second later: a profile may have files to put in order.
absl::StatusOr<std::vector<std::string>> LoginVariables(
    const Login& login, std::chrono::seconds patience = std::chrono::seconds(8));

// Adds those of `more` whose names `variables` lacks.
void AddMissing(const std::vector<std::string>& more, std::vector<std::string>* variables);

}  // namespace muster::cli

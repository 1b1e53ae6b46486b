#pragma once

// Whether CRIU works on this machine: what `criu check` says is not enough, it says yes of kernels
// whose processes that CRIU cannot restore.
//
// Thread promise: called from a main. Invariant: no process of the trial is left, nor, unless
// it is killed, a file.

#include <string>

#include "absl/status/status.h"

namespace muster::agent {

// Saves a process of our own, ends it and restores it, in a directory that no other process sees;
// an error says what failed in CRIU's words. `as_user`: as the user nobody, with no right but that
// to restore, as the jobs of users have; only root can, and this process stays that user.
absl::Status TryCriu(const std::string& criu, bool as_user);

}  // namespace muster::agent

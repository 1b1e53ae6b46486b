#pragma once

// Lists of job states, as people write them.
//
// Pure. Invariant: what is read are names of our states; none means all.

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::cli::slurm {

// The states that "R,pending" names; "all": an empty list. Several of Slurm's states no job of ours
// has. InvalidArgument without the command's name.
absl::StatusOr<std::vector<std::string>> ReadStates(const std::string& text);

}  // namespace muster::cli::slurm

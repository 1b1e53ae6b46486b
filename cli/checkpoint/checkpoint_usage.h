#pragma once

// muster checkpoint usage, and admit, which the checkpoint library calls where the site has quotas.
//
// Thread promise: runs on the main thread. Invariant: usage changes nothing; admit removes what
// checkpoint_room.h says and nothing else.

#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"

namespace muster::cli {

// Of admit, which no help names.
std::vector<Option> CheckpointAdmitOptions();

absl::StatusOr<int> CheckpointUsage(const Invocation& invocation);
// Prints the line that checkpoint/store/admission.h reads.
absl::StatusOr<int> CheckpointAdmit(const Invocation& invocation);

}  // namespace muster::cli

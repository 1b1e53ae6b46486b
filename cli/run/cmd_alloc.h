#pragma once

// What `muster alloc` does, for whoever words it in another way.
//
// Thread promise: runs on the main thread. Invariant: the allocation ends with the call, unless the
// texts' owner keeps it.

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "cli/run/alloc_session.h"

namespace muster::cli {

// Holds an allocation while a command runs here; salloc says so in Slurm's words.
absl::StatusOr<int> HoldAllocation(const Invocation& invocation, const AllocTexts& texts);

}  // namespace muster::cli

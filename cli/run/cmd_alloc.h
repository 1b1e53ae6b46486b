#pragma once

// muster alloc: holds an allocation while a command runs here.
//
// The verb's options, help and action; see verb.h for the frame. Thread promise: runs on the main
// thread.

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "cli/run/alloc_session.h"

namespace muster {

Verb AllocVerb();

// What the verb does, said in `texts`; salloc says it in Slurm's.
absl::StatusOr<int> HoldAllocation(const Invocation& invocation, const AllocTexts& texts);

}  // namespace muster

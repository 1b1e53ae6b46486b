#pragma once

// muster checkpoint interval --level: how often to checkpoint on each of several levels, each by
// itself and nested.
//
// Levels in, a page or a document out; the maths is checkpoint/advice/levels.h. Thread promise:
// runs on the main thread.

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"

namespace muster::cli {

// InvalidArgument on a level that is none, or where they do not come from the cheapest up.
absl::StatusOr<int> CheckpointLevels(const Invocation& invocation);

}  // namespace muster::cli

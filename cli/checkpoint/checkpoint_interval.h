#pragma once

// muster checkpoint interval: how often to checkpoint, by every formula, and what it costs.
//
// Options in, a page or a document out; the maths is checkpoint/advice/interval.h. Thread promise:
// runs on the main thread.

#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"

namespace muster::cli {

// Its options, for the verb's table.
std::vector<Option> CheckpointIntervalOptions();

// InvalidArgument on a duration that is none; FailedPrecondition where no interval can help.
absl::StatusOr<int> CheckpointInterval(const Invocation& invocation);

}  // namespace muster::cli

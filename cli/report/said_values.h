#pragma once

// `muster report loss=0.31 step=400` in a job: says to the job's supervisor how the job gets on.
//
// One datagram, without an answer and without a wait: a supervisor that has no room has lost it.

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"

namespace muster::cli {

// InvalidArgument when a word is no NAME=VALUE; FailedPrecondition outside of a job.
absl::StatusOr<int> ReportValues(const Invocation& invocation);

}  // namespace muster::cli

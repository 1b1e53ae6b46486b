#pragma once

// Whether a StepIo says what it may: the node's supervisor connects to that address and shows that
// token, both of which come from the submitter.

#include "absl/status/status.h"
#include "scheduler/model/job/job_spec.h"

namespace muster {

// InvalidArgument unless the address is "unix:/PATH" (no control characters) or "HOST:PORT", and
// the token 32 lower-case hex digits.
absl::Status CheckStepIo(const StepIo& io);

}  // namespace muster

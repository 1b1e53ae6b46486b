#pragma once

// The body of slurmrestd's submission as one of ours.
//
// Pure. Invariant: what a field asks is done, or the field is refused by its name: none is passed
// over that could change what runs.

#include <string>

#include "absl/status/statusor.h"
#include "daemon/gateway/slurm/slurm_values.h"
#include "proto/controller.pb.h"

namespace muster::daemon::slurm {

// InvalidArgument names the field.
absl::StatusOr<wire::SubmitRequest> ReadSubmission(const std::string& body);
// One for each option of it that is kept with the job and has no effect.
Json WarningsOf(const wire::SubmitRequest& submission);

}  // namespace muster::daemon::slurm

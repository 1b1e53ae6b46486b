#pragma once

// What a job may be whose processes CRIU saves as they are, and which nodes it may use.
//
// One tree of processes on one node, with nothing outside it that it talks to: a batch script
// without GPUs. Invariant: applied again it changes nothing.

#include "absl/status/status.h"
#include "scheduler/model/job/job_spec.h"

namespace muster::core {

// Refuses what cannot be saved so; else asks for nodes that have the feature. A job of
// CheckpointMeans::kProgram is as it was. REQUIRES: its requests went through NormaliseRequest.
absl::Status FillCriu(JobSpec& spec);

}  // namespace muster::core

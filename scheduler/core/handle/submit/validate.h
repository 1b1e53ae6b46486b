#pragma once

// From what a user wrote to what a scheduler can work with: checks a spec and fills in what
// follows.
//
// Called by step for each submission, whatever the client has checked before. Thread promise: pure.
// Invariants: a spec that it returns has tasks >= 1, cpus_per_task >= 1, 1 <= min_nodes <=
// max_nodes <= tasks, and its GPUs said per task or per node, never over the whole job.

#include "absl/status/statusor.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/settings/policy_config.h"

namespace muster {

// InvalidArgument says which option, what is wrong with it, and the mend.
absl::StatusOr<JobSpec> Normalise(JobSpec spec, const PolicyConfig& config);

// GPUs over the whole request become GPUs per task where they divide, else GPUs of one node.
// REQUIRES: its tasks and nodes are filled in.
absl::Status FillGpus(ResourceRequest& request);

// InvalidArgument when the job asks for more time between SIGTERM and SIGKILL than the site gives.
absl::Status CheckGrace(const JobSpec& spec, const PolicyConfig& config);

// InvalidArgument when no node could run the program: a batch job needs a script that begins with
// "#!", the others a command; no part of it holds a NUL byte; it is not larger than an order may be
// (model/order_limits), and each entry of its environment is NAME=value with a name of its own; where
// it is watched, that address and token are such (model/job/step_io).
absl::Status CheckProgram(JobKind kind, const Program& program);

}  // namespace muster

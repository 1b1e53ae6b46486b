#pragma once

// What `muster run` asks of the job that it runs in: a step of it.
//
// Invariants: what only a job can ask for is refused by name.

#include <string_view>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "cli/request/job_options.h"
#include "scheduler/model/job/job_spec.h"

namespace muster::cli {

// No option of ours: srun's word that a job which the known nodes can never hold is refused.
inline constexpr const char* kRefuseMisfit = "refuse-misfit";

// Whether a step of a job may ask for this option of `muster run`.
bool IsStepOption(std::string_view name);

// The options of a step alone.
std::vector<Option> StepOptions();

// The values of a step without what a job could not ask for: no GPUs at all.
std::map<std::string, std::string> WithoutNoGpus(const Invocation& invocation);

// `spec` is what the options say, read as a job's.
absl::StatusOr<StepSpec> ReadStep(const Invocation& invocation, const JobSpec& spec);

// The job that we are in, or its component that --het-group names.
absl::StatusOr<JobId> OwnJob(const Invocation& invocation);

}  // namespace muster::cli

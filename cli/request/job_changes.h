#pragma once

// What an update asks to change of jobs, read by the readers of a submission's options.
//
// Used by `muster update` and `scontrol update` alike. Pure. Invariant: what no option names stays
// as it is.

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "cli/request/job_request.h"
#include "scheduler/model/job/job_update.h"

namespace muster::cli {

// The options that a job can still be changed by, beside those that only a submission has.
std::vector<Option> ChangeOptions();

// `values` by option. An empty value, or "none" as a dependency, takes away what the option gave.
// InvalidArgument is one line that names the option.
absl::StatusOr<JobUpdate> ReadJobChanges(std::map<std::string, std::string> values,
                                         const ParseContext& context);

}  // namespace muster::cli

#pragma once

// A job that was submitted before, as a request to submit it again.
//
// Pure. Invariants: the request asks for what the job was submitted with, of an
// array for the chosen elements alone; what belonged to the first time (dependencies on other jobs,
// a begin or a deadline that is past, its being held) is left out; the copies that it was
// submitted with are asked for again.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/request/job_request.h"
#include "scheduler/model/request/job_questions.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

// The elements of an array that ended otherwise than COMPLETED, ascending; of another job, whether
// it did: one 0, or nothing. `jobs` are the views of all of it.
std::vector<std::uint32_t> FailedOf(const std::vector<JobView>& jobs);

// `elements`: of an array; empty for all. FailedPrecondition when the job has no script, or has it
// no more; NotFound when the array has no such element.
absl::StatusOr<JobRequest> RequestAgain(const Submission& submission,
                                        const std::vector<std::uint32_t>& elements, Time now);

// The same request, but for the options of a submission among `values` (by name). InvalidArgument
// names an option that only the script's own submission can have. REQUIRES: no components.
absl::Status ChangeRequest(const std::map<std::string, std::string>& values,
                           const ParseContext& context, JobRequest* request);

}  // namespace muster::cli

#pragma once

// A submission: what its options, its environment and its script ask for together, and what becomes
// of it.
//
// Shared by `muster submit` and sbatch. Thread promise: the main thread's; each call blocks it.
// Invariants: the command line wins over the environment, and that over directives; what is
// returned was checked and can be sent.

#include <string>

#include "absl/status/statusor.h"
#include "cli/controller/address.h"
#include "cli/controller/connection.h"
#include "cli/frame/verb.h"
#include "cli/jobs/submit/staged_submission.h"
#include "cli/request/job_request.h"
#include "cli/request/request.h"

namespace muster::cli {

// `invocation` has the values of submit's options, and the script's arguments after its name.
absl::StatusOr<JobRequest> MakeSubmission(const Invocation& invocation, const Address& address,
                                          const Script& script);

// Waits for the job, for every element of its array or for every component; the highest exit code
// of all.
absl::StatusOr<int> WaitForAll(Connection& connection, JobId first, const JobRequest& request);

// The same, and for the copies that follow its end: what it leaves is then where it should be.
absl::StatusOr<int> WaitWithCopies(Connection& connection, const StagedJobs& submitted,
                                   const JobRequest& request);

// "kept with the job, without effect: …"; "" when everything that was given has one.
std::string RecordedText(const JobRequest& request);

}  // namespace muster::cli

#pragma once

// A job with the jobs that copy its files: one before it (--stage-in), one after it (--stage-out).
//
// They are jobs of the same user like any others, with one core and no GPU, tied to it by
// dependencies: so they are planned, explained, accounted and kept as jobs are. Invariants: nothing
// is copied and nothing runs before all of them were taken; when one is refused, the others are
// cancelled.

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/controller/connection.h"
#include "cli/request/job_request.h"
#include "scheduler/model/job/job_selector.h"

namespace muster::cli {

// The controller, as staging needs it.
struct StagingCalls {
  std::function<absl::StatusOr<Submitted>(const JobRequest&)> submit;
  std::function<absl::Status(JobId)> release;
  std::function<absl::Status(const std::vector<JobId>&)> cancel;
};
// `refuse_misfit` as SubmitJob has it. REQUIRES: the connection outlives it.
StagingCalls CallsOf(Connection& connection, bool refuse_misfit = false);

struct StagedJobs {
  JobId job;
  JobId stage_in = {};                  // not valid: there is none
  JobId stage_out = {};                 // likewise
  std::vector<Submitted> remarks = {};  // those of them that the known nodes can never hold
};

// Whether it asks for jobs that copy.
bool HasCopies(const JobRequest& request);
// InvalidArgument: what it asks for beside staging does not go with it.
absl::Status CheckStaging(const JobRequest& request);

// `program` is the path of muster, here and on the nodes.
absl::StatusOr<StagedJobs> SubmitStaged(const StagingCalls& calls, const std::string& program,
                                        JobRequest request);

// Submits the job, with those where it asks for copies; `token` and `refuse_misfit` as SubmitJob
// has them.
absl::StatusOr<StagedJobs> SubmitWithCopies(Connection& connection, const std::string& token,
                                            const JobRequest& request, bool refuse_misfit = false);

// Says on standard error, to whoever looks on, which jobs copy.
void TellCopies(const std::string& speaker, const StagedJobs& submitted);

// Adds to jobs that are to be cancelled those that copy files in for them alone. Those that cannot
// be found end by themselves once they have copied.
void TakeStageInsAlong(Connection& connection, std::vector<JobSelector>* jobs);
// Cancels the job and those.
absl::Status CancelWithStageIns(Connection& connection, JobId job);

}  // namespace muster::cli

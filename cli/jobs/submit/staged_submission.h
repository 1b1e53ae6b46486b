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
// REQUIRES: the connection outlives it.
StagingCalls CallsOf(Connection& connection);

struct StagedJobs {
  JobId job;
  JobId stage_in = {};                    // not valid: there is none
  JobId stage_out = {};                   // likewise
  std::vector<std::string> remarks = {};  // "job 12 waits: never on this cluster: …"
};

// InvalidArgument: what it asks for beside staging does not go with it.
absl::Status CheckStaging(const JobRequest& request);
// For what submits no jobs that copy: InvalidArgument when the request asks for them.
absl::Status RefuseStaging(const JobRequest& request);

// `program` is the path of muster, here and on the nodes.
absl::StatusOr<StagedJobs> SubmitStaged(const StagingCalls& calls, const std::string& program,
                                        JobRequest request);

// Adds to jobs that are to be cancelled those that copy files in for them alone. Those that cannot
// be found end by themselves once they have copied.
void TakeStageInsAlong(Connection& connection, std::vector<JobSelector>* jobs);

}  // namespace muster::cli

#include "cli/controller/query/job_history.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "scheduler/base/status.h"

namespace muster::cli {

absl::StatusOr<std::vector<JobView>> JobsSince(Connection& connection,
                                               const ListHistory& question) {
  ListJobs still;
  const JobFilter& which = question;
  static_cast<JobFilter&>(still) = which;
  ASSIGN_OR_RETURN(std::vector<JobView> live, connection.Call(still));
  ASSIGN_OR_RETURN(std::vector<JobView> ended, connection.Call(question));
  return EachOnce(std::move(live), std::move(ended));
}

std::vector<JobView> EachOnce(std::vector<JobView> live, std::vector<JobView> ended) {
  std::set<JobId> lived;
  for (const JobView& job : live) {
    lived.insert(job.id);
  }
  std::copy_if(std::move_iterator(ended.begin()), std::move_iterator(ended.end()),
               std::back_inserter(live),
               [&lived](const JobView& job) { return !lived.contains(job.id); });
  return live;
}

}  // namespace muster::cli

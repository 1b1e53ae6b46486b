#include "cli/service/service_jobs.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "cli/controller/query/newest_job.h"
#include "cli/service/lost_replicas.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli {

absl::Status NoSuchService(const std::string& service) {
  return absl::NotFoundError(
      absl::StrCat(Quote(service), ": no such service runs; muster service list names them"));
}

absl::StatusOr<std::vector<ServiceReplica>> FindReplicas(Connection& connection,
                                                         const std::string& service) {
  ListJobs question;
  question.user = OwnUserName();
  ASSIGN_OR_RETURN(const std::vector<JobView> jobs, connection.Call(question));
  std::map<JobId, JobView> ours;
  std::set<JobId> arrays;
  for (const JobView& job : jobs) {
    const std::string of = ServiceOf(job.comment);
    if (!of.empty() && (service.empty() || of == service) && !IsTerminal(job.state)) {
      ours.emplace(job.id, job);
      arrays.insert(job.array_job_id.valid() ? job.array_job_id : job.id);
    }
  }
  std::map<JobId, std::vector<JobNote>> notes;
  for (const JobId array : arrays) {
    ASSIGN_OR_RETURN(const std::vector<JobDetail> details,
                     connection.Call(ShowJob{.job = {.job = array}, .ranks_limit = 1}));
    for (const JobDetail& detail : details) {
      notes[detail.job.id] = detail.notes;
    }
  }
  std::vector<ServiceReplica> replicas;
  for (const auto& [id, job] : ours) {
    replicas.push_back(ReplicaOf(job, notes[id]));
  }
  RETURN_IF_ERROR(MarkLostReplicas(connection, &replicas));
  return replicas;
}

absl::StatusOr<std::vector<ServiceReplica>> ReplicasOf(Connection& connection,
                                                       const std::string& service) {
  ASSIGN_OR_RETURN(std::vector<ServiceReplica> replicas, FindReplicas(connection, service));
  if (replicas.empty()) {
    return NoSuchService(service);
  }
  return replicas;
}

}  // namespace muster::cli

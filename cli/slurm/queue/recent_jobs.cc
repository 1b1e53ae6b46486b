#include "cli/slurm/queue/recent_jobs.h"

#include <algorithm>

#include "cli/controller/query/job_history.h"
#include "cli/controller/query/job_query.h"
#include "cli/slurm/frame/watching.h"
#include "scheduler/base/status.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli::slurm {
namespace {

constexpr std::uint32_t kEndedMost = 1'000'000;

bool WantsEnded(const JobChoice& choice) {
  return choice.states.empty() ||
         std::any_of(choice.states.begin(), choice.states.end(),
                     [](const std::string& state) { return IsTerminal(state); });
}

}  // namespace

absl::StatusOr<RecentJobs> ListRecent(Connection& connection, const JobChoice& choice,
                                      const RecentQuestion& question) {
  JobFilter filter;
  filter.fold = question.fold;
  for (const JobSelector& job : choice.jobs) {
    filter.jobs.push_back(NamedId(job));
  }
  std::vector<JobView> jobs;
  if (WantsEnded(choice) || !choice.jobs.empty()) {
    const ListHistory history{filter, question.now - kMinJobAge, kEndedMost};
    ASSIGN_OR_RETURN(jobs, JobsSince(connection, history));
  } else {
    ASSIGN_OR_RETURN(jobs, connection.Call(ListJobs{filter}));
  }
  RecentJobs recent;
  recent.knows_all = Missing(jobs, choice.jobs).empty();
  std::erase_if(jobs, [&choice](const JobView& job) { return !Chooses(choice, job); });
  recent.jobs = std::move(jobs);
  return recent;
}

}  // namespace muster::cli::slurm

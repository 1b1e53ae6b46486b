#include "cli/slurm/history/cmd_sacct.h"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "cli/controller/query/job_history.h"
#include "cli/controller/query/job_query.h"
#include "cli/slurm/document/envelope.h"
#include "cli/slurm/document/job_document.h"
#include "cli/slurm/frame/cluster.h"
#include "cli/slurm/frame/errors.h"
#include "cli/slurm/history/sacct_options.h"
#include "cli/slurm/history/sacct_page.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli::slurm {
namespace {

constexpr std::uint32_t kEndedMost = 10'000'000;

bool IsInWindow(const SacctRequest& request, const JobView& job) {
  return job.submit_time <= request.until &&
         (job.end_time == kNoTime || job.end_time >= request.since);
}

absl::Status AddJobs(Connection& connection, const SacctRequest& request, AccountRecord& record) {
  JobFilter filter;
  filter.fold = !request.each_element;
  for (const JobSelector& job : request.choice.jobs) {
    filter.jobs.push_back(NamedId(job));
  }
  ASSIGN_OR_RETURN(std::vector<JobView> jobs,
                   JobsSince(connection, ListHistory{filter, request.since, kEndedMost}));
  for (JobView& job : jobs) {
    if (Chooses(request.choice, job) && IsInWindow(request, job)) {
      record.jobs.push_back(std::move(job));
    }
  }
  std::stable_sort(record.jobs.begin(), record.jobs.end(),
                   [](const JobView& a, const JobView& b) { return a.id < b.id; });
  return absl::OkStatus();
}

// What only whole jobs have: asked for where steps or such a field are shown.
bool NeedsDetails(const SacctRequest& request) {
  const std::set<std::string> detailed = {"AdminComment", "Constraints",   "DerivedExitCode",
                                          "Extra",        "StdErr",        "StdOut",
                                          "WCKey",        "SystemComment", "WorkDir"};
  return request.document || !request.allocations ||
         std::any_of(
             request.columns.begin(), request.columns.end(),
             [&](const AccountColumn& column) { return detailed.contains(column.field->name); });
}

absl::Status AddDetails(Connection& connection, AccountRecord& record) {
  for (const JobView& job : record.jobs) {
    if (record.details.contains(job.id)) {
      continue;
    }
    ASSIGN_OR_RETURN(std::vector<JobDetail> details, connection.Call(ShowJob{{job.array_job_id}}));
    for (JobDetail& detail : details) {
      const JobId id = detail.job.id;
      record.details.insert_or_assign(id, std::move(detail));
    }
  }
  return absl::OkStatus();
}

std::string DocumentOf(const AccountRecord& record) {
  const JobDocumentScene scene{
      .cluster = record.scene.cluster, .now = record.scene.now, .nodes = nullptr};
  Json jobs = Json::array();
  for (const JobView& job : record.jobs) {
    const auto found = record.details.find(job.id);
    JobDetail alone;
    alone.job = job;
    jobs.push_back(AccountedJob(found == record.details.end() ? alone : found->second, scene));
  }
  return SlurmDocument("jobs", std::move(jobs), scene.cluster);
}

absl::StatusOr<std::string> PageOf(Connection& connection, const SacctRequest& request,
                                   const Environment& environment, Time now) {
  AccountRecord record;
  record.scene = {.clock = Clockface(environment), .now = now, .unit = request.unit};
  RETURN_IF_ERROR(AddJobs(connection, request, record));
  if (NeedsDetails(request)) {
    RETURN_IF_ERROR(AddDetails(connection, record));
  }
  const bool named = std::any_of(
      request.columns.begin(), request.columns.end(),
      [](const AccountColumn& column) { return std::string(column.field->name) == "Cluster"; });
  if (named || request.document) {
    ASSIGN_OR_RETURN(const ClusterStatus status, connection.Call(Ping{}));
    record.scene.cluster = status.cluster;
  }
  return request.document ? DocumentOf(record) : SacctPage(request, record);
}

}  // namespace

int RunSacct(const Call& call) {
  int code = 0;
  const std::optional<Words> words = ReadCommand(call, SacctRows(), Operands::kAnywhere, &code);
  if (!words.has_value()) {
    return code;
  }
  const Time now = SystemClock().Now();
  const absl::StatusOr<SacctRequest> request =
      ReadSacct(*words, call.environment,
                {.uid = getuid(), .now = now, .zone = Clockface(call.environment).zone()});
  if (!request.ok()) {
    return FailPlainly(call, std::string(request.status().message()));
  }
  if (request->help) {
    call.out << FieldHelp() << std::flush;
    return 0;
  }
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call);
  if (!connection.ok()) {
    return Fail(call, SlurmText(connection.status()));
  }
  if (const absl::Status known = CheckClusters(**connection, request->clusters); !known.ok()) {
    return Fail(call, std::string(known.message()));
  }
  const absl::StatusOr<std::string> page = PageOf(**connection, *request, call.environment, now);
  if (!page.ok()) {
    return Fail(call, SlurmText(page.status()));
  }
  call.out << *page << std::flush;
  return 0;
}

}  // namespace muster::cli::slurm

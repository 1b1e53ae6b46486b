#include "cli/slurm/control/scontrol_local.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cli/parse/selector.h"
#include "cli/slurm/control/local_processes.h"
#include "cli/slurm/format/job_words.h"
#include "cli/slurm/frame/cluster.h"
#include "cli/slurm/frame/errors.h"
#include "cli/slurm/frame/words.h"
#include "scheduler/base/status.h"

namespace muster::cli::slurm {
namespace {

std::string OwnHost() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return host.data();
}

// The number of the job, which of an array's element its label does not say.
absl::StatusOr<std::uint64_t> NumberOf(const Call& call, const JobSelector& job) {
  if (job.elements.empty()) {
    return job.job.value();
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenCluster(call));
  ASSIGN_OR_RETURN(const std::vector<JobDetail> details, connection->Call(ShowJob{ById(job)}));
  return details.front().job.id.value();
}

int Disabled(const ControlCall& call, const char* what) {
  return FailPlainly(call.call, absl::StrCat(what, ": Requested operation is presently disabled"));
}

}  // namespace

int ListPids(const ControlCall& call) {
  const std::string named = call.words.empty() ? "" : call.words.front();
  const std::size_t dot = std::min(named.find('.'), named.size());
  const std::string step = named.substr(std::min(dot + 1, named.size()));
  std::uint64_t number = 0;
  if (!named.empty()) {
    const absl::StatusOr<JobSelector> job = ParseSelector(named.substr(0, dot));
    const absl::StatusOr<std::uint64_t> found =
        job.ok() ? NumberOf(call.call, *job) : absl::StatusOr<std::uint64_t>(job.status());
    if (!found.ok()) {
      return FailPlainly(call.call, absl::StrCat("Invalid job id specified: ", named));
    }
    number = *found;
  }
  std::vector<LocalProcess> processes = LocalProcesses();
  std::erase_if(processes, [&](const LocalProcess& process) {
    return (number != 0 && process.job != number) || (!step.empty() && process.step != step);
  });
  call.call.out << ProcessTable(processes) << std::flush;
  if (processes.empty() && number != 0) {
    return FailPlainly(call.call, absl::StrCat(step.empty() ? "JobId=" : "StepId=", named,
                                               " does not exist on node ", OwnHost(), "."));
  }
  return 0;
}

int TellJobOfPid(const ControlCall& call) {
  std::int64_t pid = 0;
  const std::vector<LocalProcess> processes = LocalProcesses();
  const bool is_number = absl::SimpleAtoi(call.words.front(), &pid);
  const auto found =
      std::find_if(processes.begin(), processes.end(),
                   [pid](const LocalProcess& process) { return process.pid == pid; });
  if (!is_number || found == processes.end()) {
    return FailPlainly(call.call, "slurm_pid2jobid error: Invalid job id specified");
  }
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call.call);
  const absl::StatusOr<std::vector<JobDetail>> details =
      connection.ok() ? (*connection)->Call(ShowJob{{JobId(found->job)}})
                      : absl::StatusOr<std::vector<JobDetail>>(connection.status());
  if (!details.ok()) {
    return FailPlainly(call.call,
                       absl::StrCat("slurm_get_end_time error: ", SlurmText(details.status())));
  }
  const JobView& job = details->front().job;
  if (!HasLimit(job) || job.start_time == kNoTime) {
    call.call.out << "Slurm JobId=" << found->job << " has no time limit\n" << std::flush;
    return 0;
  }
  const Time end = job.start_time + job.time_limit + job.suspended;
  call.call.out << "Slurm JobId=" << found->job << " ends at "
                << call.scene.clock.Text(end, "Unknown") << "\nslurm_get_rem_time is "
                << std::max<std::int64_t>(0, (end - call.scene.now).count() / 1000) << "\n"
                << std::flush;
  return 0;
}

int RefuseNotify(const ControlCall& call) {
  return Disabled(call, "job notify failure");
}

int RefuseReconfigure(const ControlCall& call) {
  return Disabled(call, "slurm_reconfigure error");
}

int RefuseShutdown(const ControlCall& call) {
  return Disabled(call, "slurm_shutdown error");
}

}  // namespace muster::cli::slurm

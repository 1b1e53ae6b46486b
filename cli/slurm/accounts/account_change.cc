#include "cli/slurm/accounts/account_change.h"

#include <poll.h>
#include <unistd.h>

#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/slurm/accounts/account_plan.h"
#include "cli/slurm/accounts/cluster_dump.h"
#include "cli/slurm/frame/cluster.h"
#include "cli/slurm/frame/errors.h"
#include "scheduler/base/status.h"

namespace muster::cli::slurm {
namespace {

constexpr int kTimeToDecideMs = 30'000;

// What the controller knows, and the change that follows.
struct Prepared {
  std::unique_ptr<Connection> connection;
  std::string cluster;
  std::vector<PolicyView> objects;
};

absl::StatusOr<Prepared> Fetch(const Call& call) {
  Prepared prepared;
  ASSIGN_OR_RETURN(prepared.connection, OpenCluster(call));
  ASSIGN_OR_RETURN(const ClusterStatus status, prepared.connection->Call(Ping{}));
  prepared.cluster = status.cluster;
  ASSIGN_OR_RETURN(prepared.objects,
                   prepared.connection->Call(ListPolicy{
                       {PolicyKind::kAccount, PolicyKind::kAssociation, PolicyKind::kQos}}));
  return prepared;
}

// What the controller said of a change, in Slurm's words where it has any.
std::string RefusalOf(const absl::Status& status) {
  if (absl::IsPermissionDenied(status)) {
    return "Access/permission denied";
  }
  if (absl::IsFailedPrecondition(status) &&
      absl::StrContains(std::string(status.message()), "names it")) {
    return "Job(s) active, cancel job(s) before remove";
  }
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status)
             ? SlurmText(status)
             : std::string(status.message());
}

const char* ProblemOf(const PolicyStep& step) {
  if (step.verb != PolicyVerb::kAdd) {
    return " Error with request: ";
  }
  return step.kind == PolicyKind::kAccount       ? " Problem adding accounts: "
         : step.kind == PolicyKind::kAssociation ? " Problem adding user associations: "
                                                 : " Problem adding QOS: ";
}

int Carry(const Call& call, Connection& connection, const ManagerPlan& plan) {
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const PolicyStep& step = plan.steps[i];
    const absl::Status done =
        connection.Call(ChangePolicy{step.verb, step.kind, step.name, step.assignments});
    if (!done.ok()) {
      return FailPlainly(call,
                         absl::StrCat(ProblemOf(step), RefusalOf(done),
                                      i == 0 ? "" : absl::StrCat("; changes made before it: ", i)));
    }
  }
  return 0;
}

}  // namespace

bool Agrees(const Call& call) {
  call.out << "Would you like to commit changes? (You have 30 seconds to decide)\n(N/y): "
           << std::flush;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  char answer = 'n';
  const bool said = poll(&input, 1, kTimeToDecideMs) > 0 && read(STDIN_FILENO, &answer, 1) == 1;
  return said && (answer == 'y' || answer == 'Y');
}

int ChangeAccounts(const Call& call, ManagerVerb verb, const std::vector<std::string>& words,
                   const ManagerManner& manner) {
  if (manner.readonly) {
    return FailPlainly(call, "Can't run this command in readonly mode.");
  }
  const absl::StatusOr<ManagerRequest> request = ReadManagerRequest(verb, words);
  if (!request.ok()) {
    return FailLines(call, std::string(request.status().message()));
  }
  const absl::StatusOr<Prepared> prepared = Fetch(call);
  if (!prepared.ok()) {
    return Fail(call, SlurmText(prepared.status()));
  }
  const ManagerPlan plan = PlanOf(*request, prepared->objects, prepared->cluster);
  if (!plan.problem.empty()) {
    if (!absl::StartsWith(plan.problem, " Nothing")) {
      return FailLines(call, plan.problem);
    }
    call.out << plan.problem << std::endl;
    return 1;
  }
  if (!manner.quiet) {
    call.out << HarmlessLines(plan.text) << std::flush;
  }
  if (!manner.immediate && !Agrees(call)) {
    call.out << " Changes Discarded" << std::endl;
    return 0;
  }
  return Carry(call, *prepared->connection, plan);
}

int DumpAccounts(const Call& call, const std::vector<std::string>& words) {
  std::string cluster;
  std::string file;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string key =
        equals == std::string::npos ? "" : absl::AsciiStrToLower(word.substr(0, equals));
    if (!key.empty() && absl::StartsWith("file", key)) {
      file = word.substr(equals + 1);
    } else if (key.empty() || absl::StartsWith("clusters", key) || absl::StartsWith("names", key)) {
      cluster = equals == std::string::npos ? word : word.substr(equals + 1);
    } else {
      return FailPlainly(call, absl::StrCat(" Unknown option: ", word));
    }
  }
  if (cluster.empty()) {
    return FailPlainly(call, " We need a cluster to dump.");
  }
  const absl::StatusOr<Prepared> prepared = Fetch(call);
  if (!prepared.ok()) {
    return Fail(call, SlurmText(prepared.status()));
  }
  if (cluster != prepared->cluster) {
    return FailPlainly(call, absl::StrCat(" Cluster ", cluster, " doesn't exist."));
  }
  file = file.empty() ? absl::StrCat("./", cluster, ".cfg") : file;
  std::ofstream out(file);
  out << ClusterDump(prepared->objects, prepared->cluster) << std::flush;
  return out.good() ? 0 : FailPlainly(call, absl::StrCat(" Can't write ", file, ": name another"));
}

}  // namespace muster::cli::slurm

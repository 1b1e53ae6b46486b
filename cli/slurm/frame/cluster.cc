#include "cli/slurm/frame/cluster.h"

#include "absl/strings/str_cat.h"
#include "cli/controller/address.h"
#include "cli/slurm/frame/words.h"
#include "scheduler/base/status.h"

namespace muster::cli::slurm {

absl::StatusOr<std::unique_ptr<Connection>> OpenCluster(const Call& call) {
  ASSIGN_OR_RETURN(const Address address, ControllerAddress("", "", call.environment));
  return Connection::Open(address);
}

absl::Status CheckClusters(Connection& connection, const std::string& names) {
  std::string own;
  for (const std::string& name : SplitCommas(names)) {
    if (name == "all") {
      continue;
    }
    if (own.empty()) {
      ASSIGN_OR_RETURN(const ClusterStatus status, connection.Call(Ping{}));
      own = status.cluster;
    }
    if (name != own) {
      return absl::FailedPreconditionError(
          absl::StrCat("'", name,
                       "' can't be reached now, or it is an invalid entry for "
                       "--cluster.  Use 'sacctmgr list clusters' to see available clusters."));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckNodes(Connection& connection, const std::vector<std::string>& names) {
  if (names.empty()) {
    return absl::OkStatus();
  }
  const absl::StatusOr<NodeList> nodes = connection.Call(ListNodes{names, /*with_machine=*/false});
  return absl::IsNotFound(nodes.status())
             ? absl::NotFoundError(
                   absl::StrCat("--nodelist: ", std::string(nodes.status().message())))
             : nodes.status();
}

}  // namespace muster::cli::slurm

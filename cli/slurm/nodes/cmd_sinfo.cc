#include "cli/slurm/nodes/cmd_sinfo.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "cli/slurm/frame/errors.h"
#include "cli/slurm/frame/watching.h"
#include "cli/slurm/nodes/sinfo_options.h"
#include "cli/slurm/nodes/sinfo_page.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli::slurm {
namespace {

bool Shows(const SinfoRequest& request, const std::string& field) {
  return std::any_of(request.columns.begin(), request.columns.end(),
                     [&](const SinfoColumn& one) { return one.column.field->name == field; });
}

absl::StatusOr<ClusterAnswer> Ask(Connection& connection, const SinfoRequest& request,
                                  const Environment& environment) {
  ClusterAnswer cluster;
  cluster.scene = {.clock = Clockface(environment)};
  cluster.now = SystemClock().Now();
  const bool shaped = request.document ||
                      std::any_of(request.columns.begin(), request.columns.end(),
                                  [](const SinfoColumn& one) { return one.column.field->shaped; });
  ASSIGN_OR_RETURN(NodeList nodes, connection.Call(ListNodes{{}, shaped}));
  cluster.nodes = std::move(nodes.nodes);
  ASSIGN_OR_RETURN(cluster.partitions, connection.Call(ListPolicy{{PolicyKind::kPartition}}));
  if (request.reservations) {
    ASSIGN_OR_RETURN(cluster.reservations, connection.Call(ListPolicy{{PolicyKind::kReservation}}));
  }
  if (request.document || Shows(request, "Cluster")) {
    ASSIGN_OR_RETURN(const ClusterStatus status, connection.Call(Ping{}));
    cluster.scene.cluster = status.cluster;
  }
  return cluster;
}

int FailLoad(const Call& call, const absl::Status& status) {
  return FailPlainly(call, absl::StrCat("slurm_load_partitions: ", SlurmText(status)));
}

}  // namespace

int RunSinfo(const Call& call) {
  int code = 0;
  const std::optional<Words> words = ReadCommand(call, SinfoRows(), Operands::kAnywhere, &code);
  if (!words.has_value()) {
    return code;
  }
  const absl::StatusOr<SinfoRequest> request = ReadSinfo(*words, call.environment);
  if (!request.ok()) {
    return FailPlainly(call, absl::StrCat(call.name, ": ", request.status().message()));
  }
  return ShowAgain(
      call, {.clusters = request->clusters, .pause_s = request->pause_s},
      [&call](const absl::Status& status) { return FailLoad(call, status); },
      [&](Connection& connection) {
        const absl::StatusOr<ClusterAnswer> cluster = Ask(connection, *request, call.environment);
        if (!cluster.ok()) {
          return FailLoad(call, cluster.status());
        }
        call.out << (request->document ? SinfoDocument(*request, *cluster)
                                       : SinfoPage(*request, *cluster))
                 << std::flush;
        return 0;
      });
}

}  // namespace muster::cli::slurm

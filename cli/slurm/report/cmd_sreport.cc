#include "cli/slurm/report/cmd_sreport.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "cli/report/usage_tally.h"
#include "cli/slurm/frame/cluster.h"
#include "cli/slurm/frame/errors.h"
#include "cli/slurm/report/report_page.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli::slurm {
namespace {

constexpr std::uint32_t kReportedMost = 10'000'000;

absl::StatusOr<ReportScene> FetchReport(Connection& connection, const ReportRequest& request,
                                        const Call& call, Time now) {
  ReportScene scene;
  scene.clock = Clockface(call.environment);
  ASSIGN_OR_RETURN(const ClusterStatus status, connection.Call(Ping{}));
  scene.cluster = status.cluster;
  ASSIGN_OR_RETURN(std::vector<JobView> jobs,
                   connection.Call(ListUse{{}, request.start, kReportedMost}));
  for (JobView& job : jobs) {
    if (RanIn(AttemptsOf(job), {request.start, request.end})) {
      CountUpTo(now, job);
      scene.jobs.push_back(std::move(job));
    }
  }
  ASSIGN_OR_RETURN(NodeList nodes, connection.Call(ListNodes{{}, /*with_machine=*/false}));
  scene.nodes = std::move(nodes.nodes);
  ASSIGN_OR_RETURN(scene.accounts, connection.Call(ListPolicy{{PolicyKind::kAccount}}));
  return scene;
}

}  // namespace

int RunSreport(const Call& call) {
  int code = 0;
  const std::optional<Words> words = ReadCommand(call, SreportRows(), Operands::kAnywhere, &code);
  if (!words.has_value()) {
    return code;
  }
  if (!words->operands.empty() && words->operands.front() == "version") {
    call.out << "slurm " << kSlurmVersion << std::endl;
    return 0;
  }
  const Time now = SystemClock().Now();
  const absl::StatusOr<ReportRequest> request =
      ReadReport(*words, {.uid = getuid(), .now = now, .zone = Clockface(call.environment).zone()});
  if (!request.ok()) {
    return FailPlainly(call, std::string(request.status().message()));
  }
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call);
  if (!connection.ok()) {
    return Fail(call, SlurmText(connection.status()));
  }
  if (const absl::Status known = CheckClusters(**connection, words->Value("cluster"));
      !known.ok()) {
    return Fail(call, std::string(known.message()));
  }
  const absl::StatusOr<ReportScene> scene = FetchReport(**connection, *request, call, now);
  if (!scene.ok()) {
    return Fail(call, SlurmText(scene.status()));
  }
  const absl::StatusOr<std::string> page =
      ReportPage(*request, *scene,
                 {.header = !words->Has("noheader"),
                  .parsable = words->Has("parsable") || words->Has("parsable2"),
                  .ends_with_delimiter = words->Has("parsable")});
  if (!page.ok()) {
    return FailPlainly(call, std::string(page.status().message()));
  }
  call.out << *page << std::flush;
  return 0;
}

}  // namespace muster::cli::slurm

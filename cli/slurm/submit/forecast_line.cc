#include "cli/slurm/submit/forecast_line.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "cli/slurm/frame/errors.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/model/policy/policy.h"

namespace muster::cli::slurm {

int TellForecast(const Call& call, const StartForecast& forecast, const JobRequest& request) {
  if (forecast.never) {
    return FailPlainly(call, absl::StrCat("allocation failure: ", kNeverFits));
  }
  const absl::Time start = absl::FromUnixMillis(forecast.start.time_since_epoch().count());
  const ResourceRequest& asks = request.spec.request;
  const std::uint64_t tasks = std::max<std::uint64_t>(
      {asks.tasks, std::uint64_t{asks.min_nodes} * std::max(asks.tasks_per_node, 1U), 1});
  FailPlainly(
      call,
      absl::StrCat(
          call.name, ": Job 0 to start at ",
          absl::FormatTime("%Y-%m-%dT%H:%M:%S", start, absl::LocalTimeZone()), " using ",
          tasks * std::max(asks.cpus_per_task, 1U), " processors on nodes ",
          forecast.nodes.empty() ? "(null)" : CompressHostlist(forecast.nodes), " in partition ",
          request.spec.partition.empty() ? kImpliedPartition : request.spec.partition.c_str()));
  return 0;
}

}  // namespace muster::cli::slurm

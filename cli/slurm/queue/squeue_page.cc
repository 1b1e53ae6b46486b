#include "cli/slurm/queue/squeue_page.h"

#include "absl/strings/str_cat.h"
#include "cli/slurm/queue/job_order.h"

namespace muster::cli::slurm {

std::string SqueuePage(const SqueueRequest& request, std::vector<JobRow> rows,
                       const JobScene& scene) {
  Sort(request.sort, scene, rows);
  std::string page;
  if (request.with_date) {
    page = absl::StrCat(absl::FormatTime("%a %b %d %H:%M:%S %Y",
                                         absl::FromUnixMillis(scene.now.time_since_epoch().count()),
                                         scene.clock.zone()),
                        "\n");
  }
  if (request.header) {
    page += TitleLine(request.prefix, request.columns);
  }
  for (const JobRow& row : rows) {
    page += ValueLine(request.prefix, request.columns, row, scene);
  }
  return page;
}

}  // namespace muster::cli::slurm

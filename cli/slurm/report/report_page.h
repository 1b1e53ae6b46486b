#pragma once

// What sreport prints.
//
// Down and planned time are of no record of Muster's: their columns are empty. What was reported is
// what the nodes of today would have offered. Pure, except for the names of people, which the
// system's table tells.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/slurm/format/amounts.h"
#include "cli/slurm/format/page_table.h"
#include "cli/slurm/report/report_words.h"
#include "scheduler/model/policy/policy_view.h"
#include "scheduler/model/view/view.h"

namespace muster::cli::slurm {

struct ReportScene {
  Clockface clock = {};
  std::string cluster = {};
  std::vector<JobView> jobs = {};  // that ran at any time of the window
  std::vector<NodeView> nodes = {};
  std::vector<PolicyView> accounts = {};
};

// InvalidArgument " Unknown field 'X'".
absl::StatusOr<std::string> ReportPage(const ReportRequest& request, const ReportScene& scene,
                                       const PageStyle& style);

}  // namespace muster::cli::slurm

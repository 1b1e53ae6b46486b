#include "cli/slurm/streams/step_layout.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli::slurm {

absl::StatusOr<std::string> StepLayout(const JobDetail& detail, StepId step) {
  if (IsWaiting(detail.job.state)) {
    return absl::FailedPreconditionError("the job waits");
  }
  const auto found =
      std::find_if(detail.steps.begin(), detail.steps.end(), [step](const StepView& each) {
        return each.step == step && (IsRunning(each.state) || IsWaiting(each.state));
      });
  if (found == detail.steps.end()) {
    return absl::NotFoundError("no such step");
  }
  if (IsWaiting(found->state)) {
    return absl::FailedPreconditionError("the step waits");
  }
  const std::vector<std::string> nodes = absl::StrSplit(found->nodes, ',', absl::SkipEmpty());
  std::string text = absl::StrCat("Job step layout:\n\t", found->tasks, " tasks, ", nodes.size(),
                                  " nodes (", CompressHostlist(nodes), ")\n\n");
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::vector<std::string> ranks;
    for (const AttemptView& attempt : detail.attempts) {
      for (const RankView& rank : attempt.ranks) {
        if (attempt.number == found->attempt && rank.step == step && rank.node == nodes[i]) {
          ranks.push_back(absl::StrCat(rank.rank));
        }
      }
    }
    absl::StrAppend(&text, "\tNode ", i, " (", nodes[i], ")");
    if (!ranks.empty()) {
      absl::StrAppend(&text, ", ", ranks.size(), " task(s): ", absl::StrJoin(ranks, " "));
    }
    text += "\n";
  }
  return text;
}

}  // namespace muster::cli::slurm

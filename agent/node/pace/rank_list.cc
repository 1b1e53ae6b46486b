#include "agent/node/pace/rank_list.h"

#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/model/job/report.h"

namespace muster::agent {

const std::map<RankName, RankHere>& RankList::Read() {
  const absl::StatusOr<std::vector<Report>> reports = journal_.ReadNew();
  if (!reports.ok()) {
    return ranks_;
  }
  for (const Report& report : *reports) {
    if (const auto* const read = std::get_if<BindingRead>(&report.fact)) {
      for (const RankBinding& rank : read->ranks) {
        if (rank.step.valid() && rank.pid != 0 && ranks_.size() < kMost) {
          ranks_[{rank.step.value(), rank.rank}] = {static_cast<pid_t>(rank.pid), rank.cpus};
        }
      }
    } else if (const auto* const ended = std::get_if<StepEnded>(&report.fact)) {
      std::erase_if(ranks_,
                    [ended](const auto& rank) { return rank.first.step == ended->step.value(); });
    }
  }
  return ranks_;
}

}  // namespace muster::agent

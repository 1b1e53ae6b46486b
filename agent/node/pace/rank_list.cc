#include "agent/node/pace/rank_list.h"

#include <utility>
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
        RankHere here{static_cast<pid_t>(rank.pid), rank.cpus, rank.gpus};
        if (rank.pid != 0 && !rank.step.valid()) {
          script_ = std::move(here);
        } else if (rank.pid != 0 && ranks_.size() < kMost) {
          ranks_[{rank.step.value(), rank.rank}] = std::move(here);
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

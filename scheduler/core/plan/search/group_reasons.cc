#include "scheduler/core/plan/search/group_reasons.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "scheduler/core/plan/search/eligibility.h"

namespace muster::core {

Reason WaitsFor(JobId component, std::size_t offset, ReasonClass verdict) {
  Reason reason;
  reason.kind = ReasonKind::kHetJob;
  reason.verdict = verdict;
  reason.behind = component;
  reason.needed = offset;
  return reason;
}

BlockedGroup WaitBlocked(const std::vector<const WaitingJob*>& group,
                         std::vector<std::vector<Reason>> blockers) {
  BlockedGroup blocked;
  std::optional<PlannedDrop> drop;
  for (std::size_t i = 0; i < group.size() && !drop.has_value(); ++i) {
    drop = DropOf(*group[i], blockers[i]);
  }
  const auto first = std::find_if(blockers.begin(), blockers.end(),
                                  [](const auto& reasons) { return !reasons.empty(); });
  const auto offset = static_cast<std::size_t>(first - blockers.begin());
  const Reason other = WaitsFor(group[offset]->id, offset, first->front().verdict);
  for (std::size_t i = 0; i < group.size(); ++i) {
    std::vector<Reason>& own = blockers[i];
    if (own.empty()) {
      own.push_back(other);
    }
    if (drop.has_value()) {
      blocked.drops.push_back(PlannedDrop{group[i]->id, drop->state, drop->text});
    }
    LeftWaiting left{group[i]->id, std::move(own.front()), {}, 0};
    left.also.assign(own.begin() + 1, own.end());
    blocked.waiting.push_back(std::move(left));
  }
  return blocked;
}

}  // namespace muster::core

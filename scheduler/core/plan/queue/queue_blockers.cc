#include "scheduler/core/plan/queue/queue_blockers.h"

#include <algorithm>

namespace muster::core {

void QueueBlockers::Block(const std::string& partition, JobId job) {
  if (std::find(counted_.begin(), counted_.end(), partition) != counted_.end()) {
    return;
  }
  counted_.push_back(partition);
  Blocker& blocker = blockers_[partition];
  blocker.first = blocker.waiting == 0 ? job : blocker.first;
  ++blocker.waiting;
}

void QueueBlockers::AddAlike(std::uint32_t count) {
  for (const std::string& partition : counted_) {
    blockers_[partition].waiting += count;
  }
}

std::optional<Reason> QueueBlockers::WhyLater(const std::string& partition) const {
  const auto blocker = blockers_.find(partition);
  if (blocker == blockers_.end()) {
    return std::nullopt;
  }
  Reason reason;
  reason.kind = ReasonKind::kPriority;
  reason.behind = blocker->second.first;
  reason.ahead = blocker->second.waiting;
  return reason;
}

}  // namespace muster::core

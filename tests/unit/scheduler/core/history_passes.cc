// The passes of a history: each made twice, and kept on record.
#include <memory>

#include "scheduler/core/planner.h"
#include "scheduler/core/snapshot_builder.h"
#include "tests/unit/scheduler/core/history.h"

namespace muster::testing {

Plan History::MakePlanTwice() {
  const bool follows = last_plan_.has_value();
  const std::shared_ptr<const Snapshot> snapshot =
      BuildSnapshot(state_, now_, follows ? &*last_plan_ : nullptr, config_.network);
  Plan plan = MakePlan(*snapshot, config_);
  if (!(MakePlan(snapshot, config_, memory_) == plan)) {
    Fail("a pass that remembers the ones before it makes another plan");
  }
  passes_.push_back(PassRecord{state_.version(), now_, plan.hash, follows,
                               std::make_shared<const PolicyConfig>(config_)});
  if (seen_) {
    seen_(*snapshot, config_, plan);
  }
  last_plan_ = plan;
  return plan;
}

}  // namespace muster::testing

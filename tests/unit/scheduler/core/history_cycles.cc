// The cycles of a history: each made twice, and kept on record.
#include <memory>

#include "scheduler/core/plan/planner.h"
#include "scheduler/core/plan/snapshot_builder.h"
#include "scheduler/model/value/fingerprint.h"
#include "tests/unit/scheduler/core/history.h"

namespace muster::core::testing {
namespace {

// Everything in it.
std::uint64_t HashOf(const Snapshot& snapshot) {
  Fingerprint hash;
  hash.Add(snapshot);
  for (const NodeSnapshot& node : snapshot.nodes) {
    hash.Add(*node.machine);
  }
  return hash.value();
}

}  // namespace

Plan History::MakePlanTwice() {
  const bool follows = last_plan_.has_value();
  const std::shared_ptr<const Snapshot> snapshot =
      BuildSnapshot(state_, now_, follows ? &*last_plan_ : nullptr, config_.network);
  const std::shared_ptr<const Snapshot> kept =
      snapshots_.Build(state_, now_, follows ? &*last_plan_ : nullptr, config_.network);
  if (HashOf(*kept) != HashOf(*snapshot)) {
    Fail("a snapshot brought up to date is not the one made anew");
  }
  Plan plan = MakePlan(*snapshot, config_);
  if (!(MakePlan(kept, config_, memory_) == plan)) {
    Fail("a cycle that remembers the ones before it makes another plan");
  }
  cycles_.push_back(CycleRecord{state_.version(), now_, plan.hash, follows,
                                std::make_shared<const SchedulerConfig>(config_)});
  if (seen_) {
    seen_(*snapshot, config_, plan);
  }
  last_plan_ = plan;
  return plan;
}

}  // namespace muster::core::testing

#include "scheduler/core/plan/planner_memory.h"

#include <utility>

#include "scheduler/core/plan/availability/availability.h"
#include "scheduler/core/plan/search/start_options.h"

namespace muster::core {
namespace {

// True when partitions and reservations are the very same.
bool HasSameRules(const Snapshot& a, const Snapshot& b) {
  if (a.policy == nullptr || b.policy == nullptr) {
    return a.policy == b.policy;
  }
  return a.policy->site == b.policy->site && a.policy->nodes == b.policy->nodes;
}

}  // namespace

PlannerMemory::PlannerMemory() = default;
PlannerMemory::~PlannerMemory() = default;
PlannerMemory::PlannerMemory(PlannerMemory&&) noexcept = default;
PlannerMemory& PlannerMemory::operator=(PlannerMemory&&) noexcept = default;

void PlannerMemory::MoveTo(std::shared_ptr<const Snapshot> next) {
  kept_ = snapshot_ != nullptr && HasSameRules(*snapshot_, *next) && availability_->MoveTo(*next);
  if (!kept_) {
    availability_ = std::make_unique<Availability>(*next);
    whole_.reset();
  }
  if (!kept_ || !options_->MoveTo(*next)) {
    options_ = std::make_unique<StartOptions>(*next);
  }
  snapshot_ = std::move(next);
}

void PlannerMemory::Forget() {
  *this = PlannerMemory();
}

}  // namespace muster::core

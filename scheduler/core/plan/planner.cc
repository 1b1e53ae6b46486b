#include "scheduler/core/plan/planner.h"

#include <utility>

#include "scheduler/core/plan/cycle/scheduling_cycle.h"
#include "scheduler/core/plan/queue/queue_priority.h"

namespace muster::core {

Plan MakePlan(const Snapshot& snapshot, const SchedulerConfig& config) {
  // Lent: the memory goes before the snapshot does.
  PlannerMemory memory;
  return MakePlan(std::shared_ptr<const Snapshot>(std::shared_ptr<void>(), &snapshot), config,
                  memory);
}

Plan MakePlan(std::shared_ptr<const Snapshot> snapshot, const SchedulerConfig& config,
              PlannerMemory& memory) {
  memory.MoveTo(std::move(snapshot));
  const QueuePriority priority(memory.snapshot(), config, &memory.whole(), &memory.charges());
  return SchedulingCycle(memory.snapshot(), config, memory.options(), memory.availability())
      .Run(priority);
}

}  // namespace muster::core

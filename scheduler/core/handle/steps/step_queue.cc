#include "scheduler/core/handle/steps/step_queue.h"

#include <string>
#include <utility>

#include "scheduler/core/handle/steps/step_placement.h"
#include "scheduler/core/state/tables/attempt.h"

namespace muster::core {

std::string StepName(const StepSpec& spec, const Program& program) {
  if (!spec.name.empty() || program.argv.empty()) {
    return spec.name;
  }
  const std::string& command = program.argv.front();
  const std::size_t slash = command.rfind('/');
  return slash == std::string::npos ? command : command.substr(slash + 1);
}

void BeginStep(StepStarted event, const StepSpec& spec, Allocation placement,
               Transition& transition) {
  for (const NodeAllocation& part : placement.nodes) {
    transition.effects.emplace_back(LaunchStep{event.job, event.attempt, event.step, part.node});
  }
  event.placement = std::move(placement);
  event.exclusive = !spec.overlap;
  event.own_memory = !spec.memory_per_node.zero();
  transition.events.emplace_back(std::move(event));
}

void StartQueuedSteps(const ClusterState& state, Job& job, Time now, Transition& transition) {
  Attempt& attempt = *job.attempt;
  while (!attempt.queued_steps.empty() && attempt.ending == EndCause::kNone) {
    const QueuedStep head = attempt.queued_steps.front();
    absl::StatusOr<StepPlace> place = PlaceStep(state, job, head.spec);
    if (!place.ok()) {
      const StepDropped dropped{job.id, attempt.number, head.id,
                                std::string(place.status().message()), now};
      TakeInStep(attempt, dropped);
      transition.events.emplace_back(dropped);
      continue;
    }
    if (place->placement.nodes.empty()) {
      return;
    }
    StepStarted started;
    started.job = job.id;
    started.attempt = attempt.number;
    started.step = head.id;
    started.name = head.name;
    started.time = now;
    BeginStep(std::move(started), head.spec, std::move(place->placement), transition);
    TakeInStep(attempt, std::get<StepStarted>(transition.events.back()));
  }
}

}  // namespace muster::core

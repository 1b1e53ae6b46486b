#include "scheduler/core/handle/attempts/attempt_end.h"

#include <iterator>
#include <utility>
#include <vector>

#include "scheduler/core/state/actions.h"

namespace muster::core {

void EndAttempt(const Job& job, AttemptEnd end, Time now, Transition& transition) {
  transition.events.emplace_back(
      AttemptEnding{job.id, job.attempt->number, end.cause, std::move(end.text), now, end.within});
  Job ending = job;
  ending.attempt->ending = end.cause;
  OrderActions(ending, transition);
}

void OrderActions(const Job& job, Transition& transition) {
  std::vector<Effect> actions = ActionsFor(job);
  transition.effects.insert(transition.effects.end(), std::make_move_iterator(actions.begin()),
                            std::make_move_iterator(actions.end()));
}

}  // namespace muster::core

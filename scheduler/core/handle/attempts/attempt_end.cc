#include "scheduler/core/handle/attempts/attempt_end.h"

#include <iterator>
#include <utility>
#include <vector>

#include "scheduler/core/state/actions.h"

namespace muster::core {

void EndAttempt(const Job& job, AttemptEnd end, Time now, Turn& turn) {
  turn.events.emplace_back(
      AttemptEnding{job.id, job.attempt->number, end.cause, std::move(end.text), now, end.within});
  Job ending = job;
  ending.attempt->ending = end.cause;
  OrderActions(ending, turn);
}

void OrderActions(const Job& job, Turn& turn) {
  std::vector<Effect> actions = ActionsFor(job);
  turn.effects.insert(turn.effects.end(), std::make_move_iterator(actions.begin()),
                      std::make_move_iterator(actions.end()));
}

}  // namespace muster::core

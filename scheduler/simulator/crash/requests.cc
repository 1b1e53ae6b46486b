#include "scheduler/simulator/crash/requests.h"

#include <utility>

namespace muster::sim {

void Requests::Later(Duration after, std::function<void()> act) {
  ++unanswered_;
  clock_.After(after, [this, act = std::move(act)] {
    --unanswered_;
    act();
  });
}

void Requests::Send(Command command, Answer answer) {
  ++unanswered_;
  Try(std::make_shared<const Command>(std::move(command)), std::make_shared<bool>(false),
      std::make_shared<const Answer>(std::move(answer)));
}

void Requests::Try(const std::shared_ptr<const Command>& command,
                   const std::shared_ptr<bool>& answered,
                   const std::shared_ptr<const Answer>& answer) {
  if (*answered) {
    return;
  }
  clock_.After(faults_.MessageDelay(), [this, command, answered, answer] {
    bring_(*command, [this, answered, answer](const core::Transition& transition) {
      if (faults_.Fault(faults_.rates().reply_lost)) {
        ++faults_.counts().replies_lost;
        return;
      }
      clock_.After(faults_.MessageDelay(), [this, answered, answer, transition] {
        // Every answer is heard, so that two different ones are noticed.
        if (!std::exchange(*answered, true)) {
          --unanswered_;
          (*answer)(transition);
        } else if (transition.job.valid() && !transition.step.valid()) {
          (*answer)(transition);
        }
      });
    });
  });
  clock_.After(kAskAgain, [this, command, answered, answer] { Try(command, answered, answer); });
}

}  // namespace muster::sim

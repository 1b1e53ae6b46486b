#include "daemon/client/submission.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace muster::daemon {
namespace {

const std::vector<DependencyTerm>& TermsOf(const Command& command) {
  static const std::vector<DependencyTerm> none;
  if (const auto* submit = std::get_if<SubmitJob>(&command)) {
    return submit->spec.dependency.terms;
  }
  const auto* update = std::get_if<UpdateJob>(&command);
  return update != nullptr && update->changes.dependency.has_value()
             ? update->changes.dependency->terms
             : none;
}

void SetHistory(Command& command, const std::vector<TargetHistory>& history) {
  if (auto* submit = std::get_if<SubmitJob>(&command)) {
    submit->history = history;
  } else {
    std::get<UpdateJob>(command).history = history;
  }
}

class Attempted final : public std::enable_shared_from_this<Attempted> {
 public:
  Attempted(Controller& controller, Accounting& accounting, Worker& reader, Command command,
            Controller::Done done)
      : controller_(controller),
        accounting_(accounting),
        reader_(reader),
        input_(std::move(command)),
        done_(std::move(done)) {}

  void Begin() {
    if (!reader_.Run([self = shared_from_this()] { self->LookUp(); })) {
      Refuse(absl::UnavailableError("too many readers; try again"));
    }
  }

 private:
  void LookUp() {
    const absl::StatusOr<std::vector<TargetHistory>> history = accounting_.Targets(TermsOf(input_));
    if (!history.ok()) {
      Refuse(history.status());
      return;
    }
    const bool same = known_ == *history;
    known_ = *history;
    SetHistory(input_, *history);
    controller_.Take(input_, [self = shared_from_this(), same](const core::Transition& transition,
                                                               const absl::Status& status) {
      self->Answered(transition, status, same);
    });
  }

  // All answers come on one thread, the writer's.
  void Refuse(const absl::Status& status) {
    controller_.Look([self = shared_from_this(), status](const StateView&) -> Controller::Reply {
      return [self, status](const absl::Status&) { self->done_(core::Transition(), status); };
    });
  }

  // A job that was gone by the transition is in the accounting by the time of this answer: it
  // leaves only after what it saw is durable. When the accounting says nothing new, there is no
  // such job.
  void Answered(const core::Transition& transition, const absl::Status& status, bool same) {
    if ((absl::IsNotFound(status) || absl::IsAborted(status)) && !same) {
      Begin();
    } else {
      done_(transition, status);
    }
  }

  Controller& controller_;
  Accounting& accounting_;
  Worker& reader_;
  Command input_;
  const Controller::Done done_;
  std::optional<std::vector<TargetHistory>> known_;
};

}  // namespace

void ClaimSubmission(const Actor& actor, SubmitJob& command) {
  const User& user = actor;
  command.by_operator = actor.operates;
  command.spec.user = user;
  for (Component& component : command.components) {
    component.spec.user = user;
  }
}

void TakeWithHistory(Controller& controller, Accounting& accounting, Worker& reader,
                     Command command, Controller::Done done) {
  if (TermsOf(command).empty()) {
    controller.Take(std::move(command), std::move(done));
    return;
  }
  std::make_shared<Attempted>(controller, accounting, reader, std::move(command), std::move(done))
      ->Begin();
}

}  // namespace muster::daemon

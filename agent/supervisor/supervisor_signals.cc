// Supervisor: signals to its processes, and those who look on.
#include <csignal>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/limits/process_tree.h"
#include "agent/supervisor/supervisor.h"
#include "scheduler/base/status.h"

namespace muster {

absl::StatusOr<Step*> Supervisor::FindStep(StepId id) const {
  const auto found = steps_.find(id);
  if (found == steps_.end()) {
    return absl::NotFoundError(
        absl::StrCat("step ", id.value(), " of ", directory_.Name(), " does not run here"));
  }
  return found->second.get();
}

absl::Status Supervisor::TakeSignal(const SignalOrder& order) {
  const auto number = static_cast<int>(order.signal);
  log_.Info("supervisor", absl::StrCat("signal ", number, " to the attempt's processes, scope ",
                                       static_cast<int>(order.scope)));
  if (order.step.has_value()) {
    ASSIGN_OR_RETURN(Step * step, FindStep(*order.step));
    if (order.signal == 0) {
      step->Terminate(order_.launch.spec.kill_grace);
    } else {
      step->Signal(number);
    }
    return absl::OkStatus();
  }
  if (order.scope == SignalScope::kBatch) {
    ASSIGN_OR_RETURN(Step * script, FindStep(StepId()));
    script->SignalLeaders(order.signal == 0 ? SIGTERM : number);
    return absl::OkStatus();
  }
  if (order.scope == SignalScope::kFull) {
    SignalDescendants(number);
    return absl::OkStatus();
  }
  for (const auto& [id, step] : steps_) {
    if (id.valid()) {
      step->Signal(number);
    }
  }
  return absl::OkStatus();
}

absl::Status Supervisor::TakeAttach(const AttachOrder& order) {
  ASSIGN_OR_RETURN(Step * step, FindStep(order.step));
  return step->Show(order.io, order.input);
}

}  // namespace muster

#include "agent/supervisor/step/signal_router.h"

#include <csignal>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/limits/process_tree.h"
#include "scheduler/base/status.h"

namespace muster::agent {

absl::StatusOr<Step*> SignalRouter::Find(StepId id) const {
  const auto found = steps_.find(id);
  if (found == steps_.end()) {
    return absl::NotFoundError(
        absl::StrCat("step ", id.value(), " of ", attempt_, " does not run here"));
  }
  return found->second.get();
}

absl::Status SignalRouter::Take(const SignalOrder& order) const {
  const auto number = static_cast<int>(order.signal);
  log_.Info("supervisor", absl::StrCat("signal ", number, " to the attempt's processes, scope ",
                                       static_cast<int>(order.scope)));
  if (order.step.has_value()) {
    ASSIGN_OR_RETURN(Step * step, Find(*order.step));
    if (order.signal == 0) {
      step->Terminate(grace_);
    } else {
      step->ranks().Signal(number);
    }
    return absl::OkStatus();
  }
  if (order.scope == SignalScope::kBatch) {
    ASSIGN_OR_RETURN(Step * script, Find(StepId()));
    script->ranks().SignalLeaders(order.signal == 0 ? SIGTERM : number);
    return absl::OkStatus();
  }
  if (order.scope == SignalScope::kFull) {
    SignalDescendants(number);
    return absl::OkStatus();
  }
  for (const auto& [id, step] : steps_) {
    if (id.valid()) {
      step->ranks().Signal(number);
    }
  }
  return absl::OkStatus();
}

absl::Status SignalRouter::Take(const AttachOrder& order) const {
  ASSIGN_OR_RETURN(Step * step, Find(order.step));
  return step->Show(order.io, order.input);
}

bool SignalRouter::Warn(const WarningSignal& warning) const {
  const auto number = static_cast<int>(warning.signal);
  bool here = false;
  for (const auto& [id, step] : steps_) {
    if (warning.batch == id.valid()) {
      continue;
    }
    here = true;
    if (warning.batch) {
      step->ranks().SignalLeaders(number);
    } else {
      step->ranks().Signal(number);
    }
  }
  return here;
}

}  // namespace muster::agent

#include "agent/supervisor/limits/suspension.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::agent {

Suspension::Suspension(EventLoop& loop, const Clock& clock, const Logger& log, Reporter& reporter,
                       Handlers handlers)
    : clock_(clock),
      log_(log),
      reporter_(reporter),
      handlers_(std::move(handlers)),
      freezer_(loop) {}

bool Suspension::Take(const SuspendOrder& order) {
  if (order.suspension <= newest_) {
    return false;
  }
  newest_ = order.suspension;
  log_.Info("supervisor", absl::StrCat(order.resume ? "resuming" : "suspending", " the attempt, ",
                                       newest_, ". change"));
  if (order.resume) {
    const bool was = std::exchange(ordered_, false);
    Report(true);  // first: of what runs, the last word is never that it is frozen
    if (was) {
      freezer_.Thaw();
      handlers_.on_resumed();
    }
    return true;
  }
  // Where it was ordered already, the order to run in between never came.
  if (!std::exchange(ordered_, true)) {
    handlers_.on_suspended();
  }
  Freeze();
  return true;
}

void Suspension::Freeze() {
  freezer_.Freeze(cgroup_, [this] { Report(false); });
}

void Suspension::Undo() {
  if (std::exchange(ordered_, false)) {
    freezer_.Thaw();
  }
}

void Suspension::Report(bool resumed) {
  RunSuspended fact;
  fact.time = clock_.Now();
  fact.suspension = newest_;
  fact.resumed = resumed;
  reporter_.Report(fact);
}

}  // namespace muster::agent

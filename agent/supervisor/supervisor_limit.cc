// The attempt's time limit, and the signal that warns its programs before the end.
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/supervisor.h"

namespace muster {

void Supervisor::PlanEnd(std::optional<Duration> left) {
  checkpoints_.SetEnd(left.has_value() ? clock_.Now() + *left : kNoTime);
  if (left.has_value()) {
    warning_.Plan(limit_.Used(), *left, checkpoints_.Slow());
  } else {
    warning_.Forget();
  }
}

void Supervisor::TakeAdvice(const CheckpointAdvice& advice) {
  if (!checkpoints_.Advise(advice) || advice.time_limit == Duration(0) || end_.ending()) {
    return;
  }
  if (limit_.Change(advice.time_limit)) {
    order_.launch.spec.time_limit = limit_.limit();  // which the steps that come are told
    log_.Info("supervisor", limit_.limit() > Duration(0)
                                ? absl::StrCat("the time limit is ", limit_.limit().count() / 1000,
                                               " s from now on")
                                : std::string("there is no time limit from now on"));
  }
}

}  // namespace muster

// The attempt's time limit, and the signal that warns its programs before the end.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/launch/environment.h"
#include "agent/supervisor/supervisor.h"

namespace muster {
namespace {

// At the end of the attempt, for the directory of its checkpoints.
constexpr Duration kLookLimit{5000};

}  // namespace

void Supervisor::PlanEnd(std::optional<Duration> left) {
  hints_.SetEnd(left.has_value() ? clock_.Now() + *left : kNoTime);
  if (left.has_value()) {
    warning_.Plan(limit_.Used(), *left, SlowCheckpoint());
  } else {
    warning_.Forget();
  }
}

void Supervisor::TakeAdvice(const CheckpointAdvice& advice) {
  const bool news = advice.number > hints_.advice().number;
  hints_.Advise(advice);
  if (!news || advice.time_limit == Duration(0) || end_.ending()) {
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

// What checkpoints take at the most, as this attempt has measured it, else the ones before.
Duration Supervisor::SlowCheckpoint() const {
  const Duration here = watch_.record().slow;
  return here > Duration(0) ? here : hints_.advice().slow;
}

bool Supervisor::SendWarning() {
  const WarningSignal& warning = order_.launch.spec.warning;
  bool here = false;
  for (const auto& [id, step] : steps_) {
    if (warning.batch && !id.valid()) {
      here = true;
      step->SignalLeaders(static_cast<int>(warning.signal));
    } else if (!warning.batch && id.valid()) {
      here = true;
      step->Signal(static_cast<int>(warning.signal));
    }
  }
  return here;
}

// Of programs that do not use the library: from the warning until the job ended with the code that
// says so, else until what lies in its directory changed last.
void Supervisor::LearnFromWarning() {
  const JobSpec& spec = order_.launch.spec;
  if (!warning_.sent().has_value() || !end_.main_ended().has_value() || watch_.seen()) {
    return;
  }
  const Duration ran =
      std::chrono::duration_cast<Duration>(*end_.main_ended() - warning_.sent()->steady);
  if (spec.requeue_exit != 0 && spec.requeue_exit != kNoRequeueExit &&
      end_.status().code == static_cast<int>(spec.requeue_exit) && end_.status().signal == 0) {
    watch_.TakeSafeTime(ran);
    return;
  }
  if (!spec.warning.automatic) {
    return;
  }
  const absl::StatusOr<Brought> looked =
      RunAsUser(user_.has_value() ? &*user_ : nullptr, kLookLimit,
                [directory = CheckpointDirectoryOf(order_.launch)]() -> absl::StatusOr<Brought> {
                  return BringValue(NewestChange(directory));
                });
  const std::optional<Time> changed =
      looked.ok() ? ValueIn<std::optional<Time>>(*looked).value_or(std::nullopt) : std::nullopt;
  if (changed.has_value() && *changed > warning_.sent()->wall) {
    watch_.TakeSafeTime(std::min(*changed - warning_.sent()->wall, ran));
  }
}

}  // namespace muster

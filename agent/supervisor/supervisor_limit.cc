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

// A warning comes rather a little early than late.
constexpr Duration kEarly{100};
constexpr Duration kLookForWork{100};
// At the end of the attempt, for the directory of its checkpoints.
constexpr Duration kLookLimit{5000};

}  // namespace

// Counted from when the resources were given, by the wall clock once and by a steady timer from
// then on.
void Supervisor::BeginTimeLimit() {
  limit_.Begin(order_.launch.spec.time_limit, clock_.Now() - order_.launch.started,
               clock_.SteadyNow());
  KeepTimeLimit();
}

void Supervisor::StopTimer(std::optional<EventLoop::TimerId>& timer) {
  if (timer.has_value()) {
    loop_.Cancel(*std::exchange(timer, std::nullopt));
  }
}

// A deadline does not move with the time spent suspended.
std::optional<Duration> Supervisor::TimeLeft() const {
  const Time deadline = order_.launch.spec.deadline;
  std::optional<Duration> left =
      suspension_.ordered() ? std::nullopt : limit_.Left(clock_.SteadyNow());
  if (deadline != kNoTime) {
    const Duration until = std::max(deadline - clock_.Now(), Duration(0));
    left = left.has_value() ? std::min(*left, until) : until;
  }
  return left;
}

// As the limit, the deadline and the suspension stand now.
void Supervisor::KeepTimeLimit() {
  StopTimer(limit_timer_);
  StopTimer(warning_timer_);
  const std::optional<Duration> left = TimeLeft();
  if (!suspension_.ordered()) {
    hints_.SetEnd(left.has_value() ? clock_.Now() + *left : kNoTime);
  }
  if (!left.has_value()) {
    return;
  }
  const std::string text =
      suspension_.ordered()
          ? std::string("deadline reached while suspended")
          : absl::StrCat("time limit of ", limit_.limit().count() / 1000, " s reached");
  limit_timer_ = loop_.RunAfter(*left, [this, text] {
    limit_timer_.reset();
    EndByForce(EndCause::kTimeLimit, order_.launch.spec.kill_grace, text);
  });
  if (!suspension_.ordered()) {
    PlanWarning(*left);
  }
}

void Supervisor::TakeAdvice(const CheckpointAdvice& advice) {
  const bool news = advice.number > hints_.advice().number;
  hints_.Advise(advice);
  if (!news || advice.time_limit == Duration(0) || end_.ending()) {
    return;
  }
  const Duration before = limit_.limit();
  limit_.Change(advice.time_limit);
  if (limit_.limit() != before) {
    order_.launch.spec.time_limit = limit_.limit();  // which the steps that come are told
    log_.Info("supervisor", limit_.limit() > Duration(0)
                                ? absl::StrCat("the time limit is ", limit_.limit().count() / 1000,
                                               " s from now on")
                                : std::string("there is no time limit from now on"));
    KeepTimeLimit();
  }
}

// What checkpoints take at the most, as this attempt has measured it, else the ones before.
Duration Supervisor::SlowCheckpoint() const {
  const Duration here = watch_.record().slow;
  return here > Duration(0) ? here : hints_.advice().slow;
}

void Supervisor::PlanWarning(Duration left) {
  const WarningSignal& warning = order_.launch.spec.warning;
  if (warning.signal == 0 || warned_.has_value() || end_.ending()) {
    return;
  }
  planned_slow_ = SlowCheckpoint();
  const Duration whole = limit_.Used(clock_.SteadyNow()) + left;
  const Duration lead = WarningLead(warning, planned_slow_, whole);
  warning_timer_ = loop_.RunAfter(std::max(left - lead - kEarly, Duration(0)), [this] { Warn(); });
}

// Once there is something that was measured anew.
void Supervisor::PlanWarningAnew() {
  if (warning_timer_.has_value() && order_.launch.spec.warning.automatic &&
      SlowCheckpoint() != planned_slow_) {
    StopTimer(warning_timer_);
    if (const std::optional<Duration> left = TimeLeft()) {
      PlanWarning(*left);
    }
  }
}

void Supervisor::Warn() {
  warning_timer_.reset();
  if (end_.ending() || suspension_.ordered()) {
    return;
  }
  if (!began_) {
    warning_timer_ = loop_.RunAfter(kLookForWork, [this] { Warn(); });
    return;
  }
  const WarningSignal& warning = order_.launch.spec.warning;
  warned_ = Warned{clock_.SteadyNow(), clock_.Now()};
  const bool here = warning.batch ? steps_.count(StepId()) != 0
                                  : std::any_of(steps_.begin(), steps_.end(), [](const auto& step) {
                                      return step.first.valid();
                                    });
  log_.Info("supervisor",
            absl::StrCat(
                "warning, ",
                std::chrono::ceil<std::chrono::seconds>(TimeLeft().value_or(Duration(0))).count(),
                " s before the end: signal ", warning.signal,
                warning.batch ? " to the batch script" : " to the ranks of its steps",
                here ? "" : ", of which none runs here"));
  for (const auto& [id, step] : steps_) {
    if (warning.batch && !id.valid()) {
      step->SignalLeaders(static_cast<int>(warning.signal));
    } else if (!warning.batch && id.valid()) {
      step->Signal(static_cast<int>(warning.signal));
    }
  }
}

// Of programs that do not use the library: from the warning until the job ended with the code that
// says so, else until what lies in its directory changed last.
void Supervisor::LearnFromWarning() {
  const JobSpec& spec = order_.launch.spec;
  if (!warned_.has_value() || !end_.main_ended().has_value() || watch_.seen()) {
    return;
  }
  const Duration ran = std::chrono::duration_cast<Duration>(*end_.main_ended() - warned_->steady);
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
  if (changed.has_value() && *changed > warned_->wall) {
    watch_.TakeSafeTime(std::min(*changed - warned_->wall, ran));
  }
}

}  // namespace muster

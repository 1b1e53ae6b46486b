#include "agent/supervisor/ending/end_warning.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/ending/time_limit.h"

namespace muster::agent {
namespace {

// A warning comes rather a little early than late.
constexpr Duration kEarly{100};
constexpr Duration kLookForWork{100};

}  // namespace

EndWarning::EndWarning(EventLoop& loop, const Clock& clock, const Logger& log,
                       const WarningSignal& warning, const EndState& end, Handlers handlers)
    : loop_(loop),
      clock_(clock),
      log_(log),
      warning_(warning),
      end_(end),
      handlers_(std::move(handlers)) {}

EndWarning::~EndWarning() {
  Forget();
}

void EndWarning::Forget() {
  if (timer_.has_value()) {
    loop_.Cancel(*std::exchange(timer_, std::nullopt));
  }
}

Duration EndWarning::Left() const {
  return std::max(std::chrono::duration_cast<Duration>(ends_ - clock_.SteadyNow()), Duration(0));
}

void EndWarning::Plan(Duration used, Duration left, Duration slow) {
  Forget();
  whole_ = used + left;
  ends_ = clock_.SteadyNow() + left;
  Wait(slow);
}

void EndWarning::Wait(Duration slow) {
  if (warning_.signal == 0 || sent_.has_value() || end_.ending()) {
    return;
  }
  planned_slow_ = slow;
  const Duration lead = WarningLead(warning_, slow, whole_);
  timer_ = loop_.RunAfter(std::max(Left() - lead - kEarly, Duration(0)), [this] { Warn(); });
}

void EndWarning::TakeSlow(Duration slow) {
  if (timer_.has_value() && warning_.automatic && slow != planned_slow_) {
    Forget();
    Wait(slow);
  }
}

void EndWarning::Warn() {
  timer_.reset();
  if (end_.ending()) {
    return;
  }
  if (!handlers_.begun()) {
    timer_ = loop_.RunAfter(kLookForWork, [this] { Warn(); });
    return;
  }
  sent_ = Sent{clock_.SteadyNow(), clock_.Now()};
  const bool here = handlers_.send();
  log_.Info("supervisor",
            absl::StrCat("warning, ", std::chrono::ceil<std::chrono::seconds>(Left()).count(),
                         " s before the end: signal ", warning_.signal,
                         warning_.batch ? " to the batch script" : " to the ranks of its steps",
                         here ? "" : ", of which none runs here"));
}

}  // namespace muster::agent

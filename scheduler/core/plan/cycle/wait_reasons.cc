#include "scheduler/core/plan/cycle/wait_reasons.h"

#include <utility>

#include "scheduler/core/plan/search/feasibility.h"

namespace muster::core {

WaitReasons::WaitReasons(CycleState& cycle)
    : cycle_(cycle),
      verdicts_(cycle.snapshot, cycle.availability, cycle.power),
      blockers_(cycle.config.backfill != Backfill::kNone) {}

bool WaitReasons::MayTry(const StartOption& option) {
  return verdicts_.MayStart(option) && !blockers_.Holds(option.partition);
}

std::optional<Reason> WaitReasons::WhySwitches(const WaitingJob& job, const StartOption& option) {
  if (option.anywhere == nullptr || !MayTry(*option.anywhere) ||
      !cycle_.availability.FindNow(option.anywhere->need).has_value()) {
    return std::nullopt;
  }
  Reason reason;
  reason.kind = ReasonKind::kSwitches;
  reason.limit = option.request.switches;
  reason.needed = option.request.tasks;
  reason.capacity = cycle_.availability.RoomOnSwitches(option.need);
  reason.until = SwitchesUntil(job, option.request);
  return reason;
}

Reason WaitReasons::WhyBlocked(const WaitingJob& job, const StartOption& option) {
  if (const Reason* reserved = verdicts_.WhyReserved(option)) {
    return *reserved;
  }
  if (std::optional<Reason> switches = WhySwitches(job, option)) {
    return *std::move(switches);
  }
  if (std::optional<Reason> later = blockers_.WhyLater(option.partition)) {
    return *std::move(later);
  }
  const Need& need = option.anywhere == nullptr ? option.need : option.anywhere->need;
  return WhyNotNow(cycle_.snapshot.nodes, cycle_.availability, need, cycle_.snapshot.now);
}

std::optional<Reason> WaitReasons::WhyNotAlone(const WaitingJob& job, const OptionList& options) {
  for (const StartOption* option : options) {
    if (!verdicts_.NeverFits(*option) && MayTry(*option) &&
        cycle_.availability.FindNow(option->need).has_value()) {
      return std::nullopt;
    }
  }
  for (const StartOption* option : options) {
    if (!verdicts_.NeverFits(*option)) {
      return WhyBlocked(job, *option);
    }
  }
  return std::nullopt;
}

}  // namespace muster::core

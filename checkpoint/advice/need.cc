#include "checkpoint/advice/need.h"

namespace muster::checkpoint {
namespace {

// Seconds for what surrounds the writing: a barrier, the step that is being computed.
constexpr double kMarginS = 1;
constexpr double kMillisecondsPerSecond = 1000;

Need NeedOf(Notice notice) {
  switch (notice) {
    case Notice::kNone:
      return Need::kNone;
    case Notice::kPreemption:
      return Need::kPreemption;
    case Notice::kDrain:
      return Need::kDrain;
    case Notice::kResize:
      return Need::kResize;
  }
  return Need::kNone;  // of a newer version
}

double LeftS(const Hints& hints, double unix_now_s) {
  return static_cast<double>(hints.deadline_ms) / kMillisecondsPerSecond - unix_now_s;
}

}  // namespace

Need Decide(const Hints& hints, const Pace& pace, double unix_now_s) {
  if (hints.notice_number != pace.answered_notice && NeedOf(hints.notice) != Need::kNone) {
    return NeedOf(hints.notice);
  }
  if (hints.deadline_ms != 0) {
    const double left_s = LeftS(hints, unix_now_s);
    if (left_s <= pace.cost_s) {
      return Need::kNone;  // it would not be done in time
    }
    if (left_s <= 2 * pace.cost_s + kMarginS) {
      return pace.deadline_answered ? Need::kNone : Need::kTimeLimit;
    }
  }
  const double interval_s = hints.interval_ms != 0
                                ? static_cast<double>(hints.interval_ms) / kMillisecondsPerSecond
                                : pace.interval_s;
  const double patience = hints.write_slot == WriteSlot::kWait ? 2 : 1;
  return interval_s > 0 && pace.since_last_s >= patience * interval_s ? Need::kInterval
                                                                      : Need::kNone;
}

bool IsCopied(const Hints& hints, const Committed& committed, double unix_now_s) {
  if (committed.answers || committed.since_copy >= hints.copy_every) {
    return true;
  }
  // The next for the interval would begin after it, and has to be done in time.
  const double next_s =
      static_cast<double>(hints.interval_ms) / kMillisecondsPerSecond + 2 * committed.cost_s;
  return hints.deadline_ms != 0 && LeftS(hints, unix_now_s) <= next_s + kMarginS;
}

bool NeedByScr(const ScrLimits& limits, std::uint64_t call, double since_last_s, double cost_s) {
  constexpr double kPercent = 100;
  if (limits.every_calls > 0 && call % limits.every_calls == 0) {
    return true;
  }
  if (limits.every_seconds > 0 && since_last_s >= 0 &&
      static_cast<std::uint64_t>(since_last_s) >= limits.every_seconds) {
    return true;
  }
  return limits.overhead_percent > 0 &&
         (cost_s < 0 || cost_s / (since_last_s + cost_s) * kPercent < limits.overhead_percent);
}

}  // namespace muster::checkpoint

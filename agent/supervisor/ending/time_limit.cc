#include "agent/supervisor/ending/time_limit.h"

#include <algorithm>

namespace muster::agent {
namespace {

constexpr Duration kUnmeasured = std::chrono::seconds(60);
constexpr Duration kShortest = std::chrono::seconds(10);

}  // namespace

void TimeLimit::Begin(Duration limit, Duration used, SteadyTime now) {
  limit_ = std::max(limit, Duration(0));
  used_ = std::max(used, Duration(0));
  since_ = now;
}

void TimeLimit::Change(Duration limit) {
  limit_ = limit == Duration::max() ? Duration(0) : std::max(limit, Duration(1));
}

void TimeLimit::Hold(SteadyTime now) {
  used_ = Used(now);
  since_.reset();
}

void TimeLimit::RunOn(SteadyTime now) {
  used_ = Used(now);
  since_ = now;
}

Duration TimeLimit::Used(SteadyTime now) const {
  return since_.has_value()
             ? used_ + std::max(std::chrono::duration_cast<Duration>(now - *since_), Duration(0))
             : used_;
}

std::optional<Duration> TimeLimit::Left(SteadyTime now) const {
  return limit_ > Duration(0) ? std::optional(std::max(limit_ - Used(now), Duration(0)))
                              : std::nullopt;
}

Duration WarningLead(const WarningSignal& warning, Duration slow, Duration whole) {
  if (!warning.automatic) {
    return warning.before;
  }
  const Duration wanted = std::max(slow > Duration(0) ? slow : kUnmeasured, kShortest);
  return std::min(wanted, whole / 2);
}

}  // namespace muster::agent

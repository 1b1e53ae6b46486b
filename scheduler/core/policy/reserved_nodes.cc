#include "scheduler/core/policy/reserved_nodes.h"

#include <algorithm>
#include <optional>

#include "scheduler/core/place/nodes/node_timeline.h"

namespace muster::core {
namespace {

// Windows that are tried for one start. Recurring reservations whose gaps never meet are given up.
constexpr int kWindowsMax = 1000;

// True when the job outlasts every gap between two occurrences.
bool NeverLetsThrough(const Reservation& reservation, Duration duration) {
  const std::optional<Duration> period = PeriodOf(reservation);
  return period.has_value() &&
         (duration.count() <= 0 || duration > *period - (reservation.end - reservation.start));
}

std::optional<Window> Meets(const Reservation& reservation, Time start, Duration duration) {
  const std::optional<Window> window = WindowAt(reservation, start);
  return window.has_value() && window->start < NeededUntil(start, duration) ? window : std::nullopt;
}

}  // namespace

ReservedNodes::ReservedNodes(const Snapshot& snapshot, const std::string& own)
    : of_others_(snapshot.nodes.size()), until_(kFarFuture) {
  const PolicySnapshot& policy = *snapshot.policy;
  for (const auto& [name, group] : policy.nodes->reservations) {
    const Reservation& reservation = *FindReservation(*policy.site, name);
    if (name == own) {
      const std::optional<Window> window = WindowAt(reservation, snapshot.now);
      if ((reservation.flags & kFlex) == 0 && window.has_value()) {
        until_ = window->end;
        any_ = true;
      }
      continue;
    }
    if (!WindowAt(reservation, snapshot.now).has_value()) {
      continue;
    }
    for (std::size_t node = 0; node < snapshot.nodes.size(); ++node) {
      if (group.Has(snapshot.nodes[node].id)) {
        of_others_[node].push_back(&reservation);
        any_ = true;
      }
    }
  }
}

Time ReservedNodes::OpenFrom(std::uint32_t node, Time start, Duration duration) const {
  const std::vector<const Reservation*>& reservations = of_others_[node];
  for (int tries = 0; tries < kWindowsMax; ++tries) {
    if (until_ < kFarFuture && NeededUntil(start, duration) > until_) {
      return kFarFuture;
    }
    Time later = start;
    for (const Reservation* reservation : reservations) {
      if (const std::optional<Window> met = Meets(*reservation, start, duration)) {
        if (NeverLetsThrough(*reservation, duration)) {
          return kFarFuture;
        }
        later = std::max(later, met->end);
      }
    }
    if (later == start) {
      return start;
    }
    start = later;
  }
  return kFarFuture;
}

const Reservation* ReservedNodes::InTheWay(std::uint32_t node, Time start,
                                           Duration duration) const {
  const std::vector<const Reservation*>& reservations = of_others_[node];
  const auto met = std::find_if(reservations.begin(), reservations.end(), [&](const auto* other) {
    return Meets(*other, start, duration).has_value();
  });
  return met == reservations.end() ? nullptr : *met;
}

void ReservedNodes::AppendEnds(std::uint32_t node, Time now, std::vector<Time>& times) const {
  for (const Reservation* reservation : of_others_[node]) {
    if (const std::optional<Window> window = WindowAt(*reservation, now)) {
      times.push_back(window->end);
    }
  }
}

Time NextReservationChange(const Snapshot& snapshot) {
  Time next = kNoTime;
  if (snapshot.policy == nullptr) {
    return next;
  }
  for (const auto& [name, reservation] : snapshot.policy->site->reservations) {
    if (const std::optional<Window> window = WindowAt(reservation, snapshot.now)) {
      const Time change = window->start > snapshot.now ? window->start : window->end;
      next = next == kNoTime ? change : std::min(next, change);
    }
  }
  return next;
}

}  // namespace muster::core

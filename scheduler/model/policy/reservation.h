#pragma once

// Reservations: nodes set apart for a time, for users, for accounts, or for maintenance.
//
// Invariants of those in a cluster state: start < end; `nodes` is not empty (a reservation by count
// was given its nodes when it was made); a recurring one is shorter than its period.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/time.h"

namespace muster {

// Flags of a reservation, as bits; Slurm's names.
enum ReservationFlag : std::uint32_t {
  kMaint = 1,          // maintenance: may lie over other reservations
  kFlex = 2,           // its jobs may also use other nodes, and start before it
  kIgnoreJobs = 4,     // made although jobs run there
  kDailyRepeat = 8,    // every 24 hours
  kWeeklyRepeat = 16,  // every 7 days
};

struct Reservation {
  std::string name;
  Time start = kNoTime;
  Time end = kNoTime;
  std::string nodes;             // a host list; "ALL": every node
  std::uint32_t node_count = 0;  // nodes to choose when it is made; 0: those listed
  std::vector<std::string> users;
  std::vector<std::string> accounts;
  std::uint32_t flags = 0;  // of ReservationFlag
  bool configured = false;
  static constexpr auto Fields(auto list) {
    return list(Field{"name", &Reservation::name}, Field{"start", &Reservation::start},
                Field{"end", &Reservation::end}, Field{"nodes", &Reservation::nodes},
                Field{"node_count", &Reservation::node_count}, Field{"users", &Reservation::users},
                Field{"accounts", &Reservation::accounts}, Field{"flags", &Reservation::flags},
                Field{"configured", &Reservation::configured});
  }
  friend bool operator==(const Reservation&, const Reservation&) = default;
};

// A stretch of time, the end not included.
struct Window {
  Time start = kNoTime;
  Time end = kNoTime;
  friend bool operator==(const Window&, const Window&) = default;
};

// Between two occurrences; nothing when there is one only.
inline std::optional<Duration> PeriodOf(const Reservation& reservation) {
  if ((reservation.flags & kDailyRepeat) != 0) {
    return std::chrono::hours(24);
  }
  if ((reservation.flags & kWeeklyRepeat) != 0) {
    return std::chrono::hours(24 * 7);
  }
  return std::nullopt;
}

// The occurrence that holds at `now`, or the next one; nothing once the last is over.
inline std::optional<Window> WindowAt(const Reservation& reservation, Time now) {
  Window window{reservation.start, reservation.end};
  if (now < window.end) {
    return window;
  }
  const std::optional<Duration> period = PeriodOf(reservation);
  if (!period.has_value()) {
    return std::nullopt;
  }
  const auto turns = (now - window.end) / *period + 1;
  window.start += *period * turns;
  window.end += *period * turns;
  return window;
}

}  // namespace muster

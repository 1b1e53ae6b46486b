#pragma once

// The settings of the nodes' health checks: [health] in the configuration.
//
// Invariants: durations are not negative; with `interval` zero nothing is checked unless a user
// asks, and no node is drained or resumed by its health.

#include <chrono>
#include <cstdint>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/time.h"

namespace muster {

struct HealthPolicy {
  Duration interval{0};  // between two checks of an idle node; zero: only when asked
  Duration recheck = std::chrono::minutes(10);  // to the next look at a node that was slow
  bool at_boot = true;                          // and after a failure, with an interval
  bool drain = true;                            // false: it says so, and does nothing
  std::uint32_t mad = 3;                   // how many scaled median absolute deviations are slow
  std::uint32_t slack_percent = 10;        // of the median: what is nearer is never slow
  std::uint32_t confirm = 3;               // slow that many times in a row is sick
  std::uint32_t samples = 8;               // of a class, before it judges
  std::uint32_t drained_percent_max = 10;  // of a class; at least one node
  std::uint32_t at_once_percent = 10;      // of the nodes are checked at a time; at least one
  static constexpr auto Fields(auto list) {
    return list(Field{"interval", &HealthPolicy::interval},
                Field{"recheck", &HealthPolicy::recheck}, Field{"at_boot", &HealthPolicy::at_boot},
                Field{"drain", &HealthPolicy::drain}, Field{"mad", &HealthPolicy::mad},
                Field{"slack_percent", &HealthPolicy::slack_percent},
                Field{"confirm", &HealthPolicy::confirm}, Field{"samples", &HealthPolicy::samples},
                Field{"drained_percent_max", &HealthPolicy::drained_percent_max},
                Field{"at_once_percent", &HealthPolicy::at_once_percent});
  }
  friend bool operator==(const HealthPolicy&, const HealthPolicy&) = default;
};

}  // namespace muster

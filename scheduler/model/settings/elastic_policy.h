#pragma once

// The settings of elastic jobs, [elastic] in the configuration, and the times of their fence.
//
// A node that is not heard of any more may still run its part of a job. So the part of an elastic
// job ends by itself once its supervisor has not heard for kElasticLease that the controller hears
// its node, and the job starts again without that node no sooner than kElasticFence after its last
// sign of life. Invariants: durations are not negative; kElasticFence is longer than the lease and
// the time that an end by SIGKILL takes.

#include <chrono>
#include <cstdint>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/time.h"

namespace muster {

inline constexpr Duration kElasticLease = std::chrono::seconds(15);
inline constexpr Duration kElasticFence = std::chrono::seconds(20);
// Of the workers on the other nodes, which wait for the lost ones and can save nothing.
inline constexpr Duration kElasticLossGrace = std::chrono::seconds(5);

struct ElasticPolicy {
  std::uint32_t efficiency_percent = 90;              // e of the work rate (n/m)^e
  Duration restart_cost = std::chrono::seconds(120);  // of a change, until it is measured
  Duration last_call = std::chrono::seconds(30);      // further nodes may come before a change
  std::uint32_t pause_costs = 10;  // between two changes: that many times the cost of one
  bool shrink = true;              // for jobs of more priority that wait
  static constexpr auto Fields(auto list) {
    return list(Field{"efficiency_percent", &ElasticPolicy::efficiency_percent},
                Field{"restart_cost", &ElasticPolicy::restart_cost},
                Field{"last_call", &ElasticPolicy::last_call},
                Field{"pause_costs", &ElasticPolicy::pause_costs},
                Field{"shrink", &ElasticPolicy::shrink});
  }
  friend bool operator==(const ElasticPolicy&, const ElasticPolicy&) = default;
};

}  // namespace muster

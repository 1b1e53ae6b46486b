#pragma once

// Whether a running elastic job is worth more nodes, or another job some of its own: what is gained
// against what a change costs.
//
// A job works on n nodes at a rate of n^e, 0 < e <= 1. What takes `left` on n nodes takes left
// (n/m)^e on m, so a change that costs c pays when left (1 - (n/m)^e) > c; from 8 to 12 nodes with
// e = 0.9 and c = 120 s when more than 392 s are left. A change is put off by the last call, so
// that nodes which come one after the other cost one restart, and two changes are at least
// `pause_costs` times c apart, so that nodes which come and go cost a bounded share of the job's
// time (one part in pause_costs). Nodes that are lost are no choice and not judged here. Thread
// promise: pure; integers only, so that every machine decides alike.

#include <cstdint>

#include "scheduler/model/plan/plan.h"
#include "scheduler/model/settings/elastic_policy.h"
#include "scheduler/model/value/time.h"

namespace muster::core {

// The time left of a job without a limit.
inline constexpr Duration kNeverEnds = Duration::max();

// The part of its time that a job saves on m nodes instead of n: 1 - (n/m)^e, in 2^-62, good to
// 2^-24. REQUIRES: 0 < n <= m; 0 < efficiency_percent <= 100.
std::uint64_t TimeSaved(std::uint32_t n, std::uint32_t m, std::uint32_t efficiency_percent);

// The same of `left`.
Duration GainOf(std::uint32_t n, std::uint32_t m, Duration left, std::uint32_t efficiency_percent);

struct ElasticStatus {
  std::uint32_t nodes = 1;   // that it has
  std::uint32_t most = 1;    // that it may have
  std::uint32_t within = 1;  // that it could have now
  Duration left = kNeverEnds;
  Duration cost{0};        // of a change, as measured; 0: it was not
  Time changed = kNoTime;  // when its number of nodes last changed, if ever
  Time due = kNoTime;      // when it is to grow by the last plan, if it was
};

// What to do with it, without the ids. REQUIRES: 0 < nodes; within <= most.
PlannedResize JudgeSize(const ElasticStatus& job, const ElasticPolicy& policy, Time now);

// Whether it goes on with `within` nodes, so that a job that waits starts, which otherwise starts
// `wait` from now (kNeverEnds: unknown). What the change costs the one job has to be less than the
// other waits. REQUIRES: 0 < within < nodes.
PlannedResize JudgeShrink(const ElasticStatus& job, Duration wait, const ElasticPolicy& policy,
                          Time now);

}  // namespace muster::core

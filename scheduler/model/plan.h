#pragma once

// A plan: what a pass proposes to start, and why each job left waiting waits.
//
// A proposal only: core/verify checks each start against the state as it is by then.
// Thread promise: immutable once made. Invariants: (1) no job is both started and waiting; (2)
// starts are in queue order; (3) `hash` is the fingerprint of starts and reasons, the same on every
// machine.

#include <cstdint>
#include <vector>

#include "scheduler/model/allocation.h"
#include "scheduler/model/fields.h"
#include "scheduler/model/ids.h"
#include "scheduler/model/reason.h"
#include "scheduler/model/time.h"

namespace muster {

struct PlannedStart {
  JobId job;
  Allocation allocation;
  static constexpr auto Fields() {
    return std::tuple{Field{"job", &PlannedStart::job},
                      Field{"allocation", &PlannedStart::allocation}};
  }
  friend bool operator==(const PlannedStart&, const PlannedStart&) = default;
};

struct LeftWaiting {
  JobId job;
  Reason reason;
  static constexpr auto Fields() {
    return std::tuple{Field{"job", &LeftWaiting::job}, Field{"reason", &LeftWaiting::reason}};
  }
  friend bool operator==(const LeftWaiting&, const LeftWaiting&) = default;
};

struct Plan {
  Version version;  // the snapshot's
  std::vector<PlannedStart> starts;
  std::vector<LeftWaiting> waiting;
  Time wake = kNoTime;  // when time alone will change the answer (a begin time), or kNoTime
  std::uint64_t hash = 0;
  static constexpr auto Fields() {
    return std::tuple{Field{"version", &Plan::version}, Field{"starts", &Plan::starts},
                      Field{"waiting", &Plan::waiting}, Field{"wake", &Plan::wake},
                      Field{"hash", &Plan::hash}};
  }
  friend bool operator==(const Plan&, const Plan&) = default;
};

}  // namespace muster

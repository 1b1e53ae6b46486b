#pragma once

// A cycle record: what must be known of a cycle, beside the journal, to make it again.
//
// Kept by the store with the events that the cycle led to. Invariants: the snapshot of `version` at
// `now`, under `config` and after the plan of the record before (if `follows`), makes a plan of
// that `hash`.

#include <cstdint>
#include <memory>

#include "scheduler/model/settings/scheduler_config.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster {

struct CycleRecord {
  Version version;  // of the state that it looked at
  Time now = kNoTime;
  std::uint64_t hash = 0;
  bool follows = false;  // it kept to the reservations of the cycle before
  std::shared_ptr<const SchedulerConfig> config;
};

}  // namespace muster

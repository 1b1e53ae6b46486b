#pragma once

// A replay bundle: one cycle of the planner, whole, so that it can be made again elsewhere.
//
// Written by the controller when its watchdog accuses the planner; read by `muster replay`.
// Invariants: `plan` is what the cycle made of `snapshot` under `config`.

#include <string>
#include <vector>

#include "scheduler/model/plan/plan.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/settings/scheduler_config.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster {

// A job that waits, and nodes that would take it.
struct OverlookedJob {
  JobId job;
  std::vector<NodeId> nodes;
  Time since = kNoTime;  // of the first cycle that left it; of a single cycle, its time
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &OverlookedJob::job}, Field{"nodes", &OverlookedJob::nodes},
                Field{"since", &OverlookedJob::since});
  }
};

struct ReplayBundle {
  std::string program;  // the version that made it
  Snapshot snapshot;
  SchedulerConfig config;
  Plan plan;
  std::vector<OverlookedJob> overlooked;  // by this cycle
};

}  // namespace muster

#pragma once

// The watchdog of promise 8: looks at what a plan leaves waiting, and finds the jobs that would fit
// on idle nodes as they are.
//
// A second opinion on the planner, which is why it shares neither its timelines nor its search:
// what is free after the plan's starts, node by node, and core/place/nodes/node_selection to place
// the job there. It rather says nothing than accuse wrongly: nodes with a start reserved on them
// before the job would end or whose cores a suspended job wants back, machines whose cores differ,
// components of heterogeneous jobs, jobs without a time limit after one whose start is unknown, and
// in the order called prompt those whose reason is not resources are left out; so are all
// while an elastic job is about to grow. Thread promise: FindOverlooked is pure; a Watchdog belongs
// to one thread. Invariants: an overlooked job is kept by no hold, dependency, time, limit
// or policy, and starting it on the nodes named delays no job with a reservation.

#include <cstdint>
#include <map>
#include <vector>

#include "scheduler/model/plan/plan.h"
#include "scheduler/model/plan/replay_bundle.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

// In queue order. On large clusters only as many jobs as a bounded number of looks at nodes allows.
// REQUIRES: the plan is of the snapshot.
std::vector<OverlookedJob> FindOverlooked(const Snapshot& snapshot, const Plan& plan,
                                          const SchedulerConfig& config);

class Watchdog {
 public:
  // Cycles that may leave a job before it is reported, and for how long they may: what is kept for
  // a job of the order called prompt which then starts elsewhere is free for others only a second
  // later (core/plan/cycle/kept_places).
  static constexpr std::uint32_t kPatience = 2;
  static constexpr Duration kPatienceTime{2'000};

  // Takes in what one cycle overlooked; the jobs that more cycles in a row than that have left, and
  // for longer, each reported once.
  std::vector<OverlookedJob> ReportOverlooked(const std::vector<OverlookedJob>& overlooked);

  // All that were reported and still wait so, by job.
  [[nodiscard]] std::vector<OverlookedJob> alerts() const;

 private:
  struct Seen {
    OverlookedJob job;
    std::uint32_t cycles = 0;
    bool reported = false;
  };
  std::map<JobId, Seen> seen_;
};

}  // namespace muster::core

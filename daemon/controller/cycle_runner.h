#pragma once

// The scheduling cycles beside the loop: the snapshot that one is made on, its plan on a thread of
// its own, and whether what came of it still counts.
//
// Thread promise: one owner, the controller's loop; `done` is called on the planner's thread.
// Invariants: one cycle at a time; one that began before Forget does not count; each start of a job
// that plans or the journal had promised one is counted as kept or missed.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "daemon/controller/cycle/waiting_reasons.h"
#include "daemon/controller/meters.h"
#include "daemon/controller/task_queue.h"
#include "daemon/controller/worker.h"
#include "scheduler/core/explain/promise_table.h"
#include "scheduler/core/explain/watchdog.h"
#include "scheduler/core/plan/planner_memory.h"
#include "scheduler/core/plan/snapshot_builder.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/settings/scheduler_config.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster::daemon {

// A cycle that was made: on what, by which settings, with what result.
struct Cycle {
  std::shared_ptr<const Snapshot> snapshot;
  std::shared_ptr<const SchedulerConfig> config;
  bool follows = false;         // the plan before was in force
  std::uint64_t forgotten = 0;  // how often, when it began
  std::shared_ptr<const Plan> plan;
  WaitingReasons reasons;
  std::vector<OverlookedJob> overlooked;
  std::vector<NodeId> wanted;        // that are off, by jobs without a place
  std::vector<GpuWish> divided;      // GPUs that should be divided otherwise, for such jobs
  bool full = false;                 // it leaves no processor free
  std::chrono::nanoseconds work{0};  // that it was, on either thread
};

class CycleRunner {
 public:
  // What makes the plans.
  using Planner = std::function<Plan(std::shared_ptr<const Snapshot>, const SchedulerConfig&,
                                     core::PlannerMemory&)>;
  using Done = std::function<void(const std::shared_ptr<const Cycle>& cycle)>;

  // Times go into `meters`, which outlives it.
  CycleRunner(Planner planner, Meters& meters) : planner_(std::move(planner)), meters_(meters) {}

  void Start() { worker_ = std::make_unique<Worker>(); }
  // Waits for the cycle under way.
  void Stop() { worker_.reset(); }

  [[nodiscard]] bool running() const { return running_; }
  // Begins a cycle on the state; `last` is the plan in force, or null. REQUIRES: none is running.
  void Begin(const core::ClusterState& state, Time now, const Plan* last,
             const std::shared_ptr<const SchedulerConfig>& config, Done done);
  // The cycle that `done` was given is over. False when it does not count.
  [[nodiscard]] bool End(const Cycle& cycle);
  // Runs the task on the planner's thread, after the cycle; false when there is too much to do.
  [[nodiscard]] bool Run(TaskQueue::Task task) { return worker_->Run(std::move(task)); }

  // The state was brought to `version` by the event.
  void Note(const Event& event, Version version);
  // Which jobs the newest events changed.
  [[nodiscard]] const core::TouchedJobs& touched() const { return snapshots_.touched(); }
  // The state is another one, and not by events.
  void Forget();

 private:
  // The latest starts that jobs of a state had been promised before it was ours.
  void LearnPromises(const core::ClusterState& state, Time now);

  core::SnapshotBuilder snapshots_;
  core::PromiseTable promises_;
  bool knows_promises_ = false;  // those of the state
  const Planner planner_;
  Meters& meters_;
  std::uint64_t forgotten_ = 0;
  bool running_ = false;
  core::PlannerMemory memory_;  // of the worker alone, once that runs
  std::unique_ptr<Worker> worker_;
};

}  // namespace muster::daemon

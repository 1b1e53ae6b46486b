#include "daemon/controller/cycle_runner.h"

#include <algorithm>
#include <utility>

#include "scheduler/model/machine/machine.h"

namespace muster::daemon {
namespace {

// Whether no processor of a node that takes jobs is free once the plan's starts are made.
bool LeavesNothing(const Snapshot& snapshot, const Plan& plan) {
  std::uint64_t free = 0;
  for (const NodeSnapshot& node : snapshot.nodes) {
    if (node.up && !node.drained) {
      const std::uint32_t all = AllCpus(*node.machine).Count();
      free += all - std::min(all, node.taken.cpus.Count());
    }
  }
  for (const PlannedStart& start : plan.starts) {
    for (const NodeAllocation& part : start.allocation.nodes) {
      free -= std::min<std::uint64_t>(free, part.cpus.Count());
    }
  }
  return free == 0;
}

}  // namespace

void CycleRunner::Begin(const core::ClusterState& state, Time now, const Plan* last,
                        const std::shared_ptr<const SchedulerConfig>& config, Done done) {
  const auto begin = std::chrono::steady_clock::now();
  meters_.cycle_ms = now.time_since_epoch().count();
  auto cycle = std::make_shared<Cycle>();
  cycle->snapshot = snapshots_.Build(state, now, last, config->network);
  cycle->config = config;
  cycle->follows = last != nullptr;
  cycle->forgotten = forgotten_;
  cycle->work = std::chrono::steady_clock::now() - begin;
  running_ = worker_->Run([this, cycle, done = std::move(done)] {
    const auto planned = std::chrono::steady_clock::now();
    cycle->plan = std::make_shared<const Plan>(planner_(cycle->snapshot, *cycle->config, memory_));
    meters_.cycle.Observe(std::chrono::steady_clock::now() - planned);
    cycle->reasons = WaitingReasons(cycle->plan);
    cycle->overlooked = core::FindOverlooked(*cycle->snapshot, *cycle->plan, *cycle->config);
    cycle->full = LeavesNothing(*cycle->snapshot, *cycle->plan);
    cycle->work += std::chrono::steady_clock::now() - planned;
    done(cycle);
  });
}

bool CycleRunner::End(const Cycle& cycle) {
  running_ = false;
  return cycle.forgotten == forgotten_;
}

void CycleRunner::Forget() {
  ++forgotten_;
  snapshots_.Forget();
}

}  // namespace muster::daemon

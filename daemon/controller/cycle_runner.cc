#include "daemon/controller/cycle_runner.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "scheduler/core/plan/mig_demand.h"
#include "scheduler/core/plan/power_demand.h"
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
  if (!std::exchange(knows_promises_, true)) {
    LearnPromises(state, now);
  }
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
    cycle->wanted = core::NodesWanted(*cycle->snapshot, *cycle->plan, *cycle->config);
    cycle->divided = core::GpusWanted(*cycle->snapshot, *cycle->plan, *cycle->config);
    cycle->full = LeavesNothing(*cycle->snapshot, *cycle->plan);
    cycle->work += std::chrono::steady_clock::now() - planned;
    done(cycle);
  });
}

bool CycleRunner::End(const Cycle& cycle) {
  running_ = false;
  const bool counts = cycle.forgotten == forgotten_;
  // In the order called prompt the journal says what was promised.
  if (counts && cycle.config->priority.order != QueueRule::kPrompt) {
    promises_.Plan(*cycle.plan, cycle.snapshot->now);
  }
  return counts;
}

void CycleRunner::Note(const Event& event, Version version) {
  snapshots_.Note(event, version);
  promises_.Apply(event);
  if (std::holds_alternative<AttemptStarted>(event)) {
    const core::PromiseReport report = promises_.Report();
    meters_.promises_kept = report.first.held;
    meters_.promises_missed = report.starts - report.first.held;
  }
}

void CycleRunner::LearnPromises(const core::ClusterState& state, Time now) {
  state.jobs().ForEachRun([this, now](const Job& job, std::uint32_t /*count*/) {
    if (job.promised != kNoTime) {
      promises_.Apply(StartPromised{job.id, job.promised, now});
    }
  });
}

void CycleRunner::Forget() {
  ++forgotten_;
  snapshots_.Forget();
  promises_.Forget();
  knows_promises_ = false;
}

}  // namespace muster::daemon

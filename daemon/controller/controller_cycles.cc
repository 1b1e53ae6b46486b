// The scheduling cycles: when one is made, on what, and what becomes of its plan.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/controller/controller.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/plan/plan.h"

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

void Controller::MaybePlan() {
  if (!pace_.wanted() || planning_ || !Degraded().ok()) {
    return;
  }
  if (!state_.needs_cycle()) {
    pace_.Unwant();
    plan_ = nullptr;
    waiting_ = WaitingReasons();
    return;
  }
  const auto begin = std::chrono::steady_clock::now();
  if (begin < pace_.next()) {
    return;
  }
  pace_.Begin(begin);
  auto cycle = std::make_shared<Cycle>();
  cycle->snapshot = snapshots_.Build(state_, clock_.Now(), plan_.get(), policy_->network);
  cycle->config = policy_;
  cycle->follows = plan_ != nullptr;
  cycle->state_loads = state_loads_;
  cycle->work = std::chrono::steady_clock::now() - begin;
  planning_ = planner_->Run([this, cycle] {
    const auto planned = std::chrono::steady_clock::now();
    cycle->plan =
        std::make_shared<const Plan>(make_plan_(cycle->snapshot, *cycle->config, planner_memory_));
    meters_.cycle.Observe(std::chrono::steady_clock::now() - planned);
    cycle->reasons = WaitingReasons(cycle->plan);
    cycle->overlooked = core::FindOverlooked(*cycle->snapshot, *cycle->plan, *cycle->config);
    cycle->full = LeavesNothing(*cycle->snapshot, *cycle->plan);
    cycle->work += std::chrono::steady_clock::now() - planned;
    queue_.PushOwn([this, cycle] { OnCycle(*cycle); });
  });
}

void Controller::OnCycle(const Cycle& cycle) {
  planning_ = false;
  pace_.End(cycle.work, cycle.full);
  if (cycle.state_loads != state_loads_) {
    pace_.Want();
    return;
  }
  plan_ = cycle.plan;
  group_.batch.cycles.push_back(
      CycleRecord{plan_->version, cycle.snapshot->now, plan_->hash, cycle.follows, cycle.config});
  const WaitingReasons before = std::exchange(waiting_, cycle.reasons);
  if (HasWork(*plan_, clock_.Now())) {
    log_.Debug("controller",
               absl::StrCat("plan ", absl::Hex(plan_->hash, absl::kZeroPad16), " of version ",
                            ToString(plan_->version), ": ", plan_->starts.size(), " starts, ",
                            plan_->resumes.size(), " resumes, ", plan_->drops.size(), " drops, ",
                            plan_->preemptions.size(), " preemptions"));
    DoTake(TakePlan{*plan_}, [](const core::Transition&, const absl::Status&) {});
  }
  watchers_.TellOfReasons(before, waiting_, state_, group_.after);
  Heed(cycle);
}

void Controller::Heed(const Cycle& cycle) {
  const auto name_of = [this](NodeId id) {
    const Node* node = state_.FindNode(id);
    return node == nullptr ? std::string() : node->name;
  };
  const std::optional<std::string> path = alerts_.Heed(cycle.overlooked, plan_->version, name_of);
  if (!path.has_value()) {
    return;
  }
  const bool queued =
      planner_->Run([this, path = *path, snapshot = cycle.snapshot, config = cycle.config,
                     plan = cycle.plan, overlooked = cycle.overlooked] {
        const absl::Status written = WriteReplayBundle(
            path, ReplayBundle{MUSTER_VERSION, *snapshot, *config, *plan, overlooked});
        if (!written.ok()) {
          log_.Error("controller", std::string(written.message()));
        }
      });
  if (!queued) {
    log_.Warning("controller", absl::StrCat(*path, ": not written, there is too much to do"));
  }
}

}  // namespace muster::daemon

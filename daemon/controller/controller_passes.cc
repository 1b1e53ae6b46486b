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
  if (!state_.needs_passes()) {
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
  auto pass = std::make_shared<Pass>();
  pass->snapshot = snapshots_.Build(state_, clock_.Now(), plan_.get(), policy_->network);
  pass->config = policy_;
  pass->follows = plan_ != nullptr;
  pass->state_loads = state_loads_;
  pass->work = std::chrono::steady_clock::now() - begin;
  planning_ = planner_->Run([this, pass] {
    const auto planned = std::chrono::steady_clock::now();
    pass->plan =
        std::make_shared<const Plan>(make_plan_(pass->snapshot, *pass->config, planner_memory_));
    meters_.cycle.Observe(std::chrono::steady_clock::now() - planned);
    pass->reasons = WaitingReasons(pass->plan);
    pass->overlooked = core::FindOverlooked(*pass->snapshot, *pass->plan, *pass->config);
    pass->full = LeavesNothing(*pass->snapshot, *pass->plan);
    pass->work += std::chrono::steady_clock::now() - planned;
    queue_.PushOwn([this, pass] { OnPass(*pass); });
  });
}

void Controller::OnPass(const Pass& pass) {
  planning_ = false;
  pace_.End(pass.work, pass.full);
  if (pass.state_loads != state_loads_) {
    pace_.Want();
    return;
  }
  plan_ = pass.plan;
  group_.batch.passes.push_back(
      PassRecord{plan_->version, pass.snapshot->now, plan_->hash, pass.follows, pass.config});
  const WaitingReasons before = std::exchange(waiting_, pass.reasons);
  if (HasWork(*plan_, clock_.Now())) {
    log_.Debug("controller",
               absl::StrCat("plan ", absl::Hex(plan_->hash, absl::kZeroPad16), " of version ",
                            ToString(plan_->version), ": ", plan_->starts.size(), " starts, ",
                            plan_->resumes.size(), " resumes, ", plan_->drops.size(), " drops, ",
                            plan_->preemptions.size(), " preemptions"));
    DoTake(TakePlan{*plan_}, [](const core::Transition&, const absl::Status&) {});
  }
  TellOfReasons(before);
  Heed(pass);
}

void Controller::Heed(const Pass& pass) {
  const auto name_of = [this](NodeId id) {
    const Node* node = state_.FindNode(id);
    return node == nullptr ? std::string() : node->name;
  };
  const std::optional<std::string> path = alerts_.Heed(pass.overlooked, plan_->version, name_of);
  if (!path.has_value()) {
    return;
  }
  const bool queued =
      planner_->Run([this, path = *path, snapshot = pass.snapshot, config = pass.config,
                     plan = pass.plan, overlooked = pass.overlooked] {
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

// The scheduling cycles: when one is made, on what, and what becomes of its plan.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/controller/controller.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/plan/plan.h"

namespace muster::daemon {

void Controller::MaybePlan() {
  if (!pace_.wanted() || cycles_.running() || !Degraded().ok()) {
    return;
  }
  if (!core::NeedsCycle(state_)) {
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
  cycles_.Begin(state_, clock_.Now(), plan_.get(), policy_,
                [this](const std::shared_ptr<const Cycle>& cycle) {
                  queue_.PushOwn([this, cycle] { OnCycle(*cycle); });
                });
}

void Controller::OnCycle(const Cycle& cycle) {
  const bool counts = cycles_.End(cycle);
  pace_.End(cycle.work, cycle.full);
  if (!counts) {
    pace_.Want();
    return;
  }
  plan_ = cycle.plan;
  power_.Want(cycle.wanted);
  group_.batch.cycles.push_back(
      CycleRecord{plan_->version, cycle.snapshot->now, plan_->hash, cycle.follows, cycle.config});
  const WaitingReasons before = std::exchange(waiting_, cycle.reasons);
  if (HasWork(*plan_, clock_.Now())) {
    log_.Debug(
        "controller",
        absl::StrCat("plan ", HashText(plan_->hash), " of version ", ToString(plan_->version), ": ",
                     plan_->starts.size(), " starts, ", plan_->resumes.size(), " resumes, ",
                     plan_->drops.size(), " drops, ", plan_->preemptions.size(), " preemptions"));
    DoTake(TakePlan{*plan_}, [](const core::Transition&, const absl::Status&) {});
  }
  if (!cycle.divided.empty()) {
    DoTake(LayOutGpus{cycle.divided}, [](const core::Transition&, const absl::Status&) {});
  }
  watchers_.TellOfReasons(before, waiting_, state_, group_.after);
  ReportOverlooked(cycle);
}

void Controller::ReportOverlooked(const Cycle& cycle) {
  const auto name_of = [this](NodeId id) {
    const Node* node = state_.FindNode(id);
    return node == nullptr ? std::string() : node->name;
  };
  const std::optional<std::string> path =
      alerts_.ReportOverlooked(cycle.overlooked, plan_->version, name_of);
  if (!path.has_value()) {
    return;
  }
  const bool queued =
      cycles_.Run([this, path = *path, snapshot = cycle.snapshot, config = cycle.config,
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

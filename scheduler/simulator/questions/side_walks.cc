#include "scheduler/simulator/questions/side_walks.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/core/handle/handle.h"
#include "scheduler/core/handle/nodes/power_watch.h"
#include "scheduler/core/plan/mig_demand.h"
#include "scheduler/core/plan/planner.h"
#include "scheduler/core/plan/power_demand.h"
#include "scheduler/core/plan/snapshot_builder.h"
#include "scheduler/core/state/invariants.h"
#include "scheduler/core/state/job_group.h"
#include "scheduler/simulator/questions/aimed_commands.h"
#include "scheduler/simulator/questions/aimed_orders.h"
#include "scheduler/simulator/questions/plan_check.h"
#include "scheduler/simulator/questions/wrong_plans.h"
#include "scheduler/simulator/workload/draws.h"
#include "scheduler/simulator/workload/machines.h"
#include "scheduler/simulator/workload/rare_changes.h"
#include "scheduler/simulator/workload/rare_wishes.h"
#include "scheduler/simulator/workload/site_changes.h"

namespace muster::sim {
namespace {

constexpr std::uint32_t kStepsMost = 16;  // at most
constexpr std::uint32_t kLargestCluster = 200;

class SideWalk {
 public:
  SideWalk(core::ClusterState state, Time now, SchedulerConfig config, RandomSequence& random)
      : state_(std::move(state)), now_(now), config_(std::move(config)), random_(random) {}

  // REQUIRES: the state is that of no cluster.
  void Begin() {
    Give(BeginEpoch{});
    const bool large = Chance(random_, 10);
    const std::uint32_t nodes = 1 + Draw(random_, large ? kLargestCluster : 4);
    Machine machine = DrawMachine(8, 1 + Draw(random_, 2), 4, random_);
    for (std::uint32_t i = 1; i <= nodes; ++i) {
      if (Chance(random_, large ? 20 : 300)) {
        machine = DrawMachine(8, 1 + Draw(random_, 2), 4, random_);
      }
      Registration registration;
      registration.name = registration.hostname = absl::StrCat("node", i);
      registration.instance = registration.boot_id = "1";
      registration.machine = machine;
      registration.features = DrawFeatures(random_);
      registration.weight = Draw(random_, 3);
      Give(RegisterAgent{std::move(registration)});
    }
    for (std::uint32_t i = 5 + Draw(random_, large ? 2 * nodes : 20); i > 0; --i) {
      Give(DrawSubmission(state_, now_, random_));
    }
  }

  std::optional<std::string> Walk() {
    ChangeSettings();
    if (Chance(random_, 150)) {
      Give(BeginEpoch{true});
    }
    const std::uint32_t steps = 1 + Draw(random_, kStepsMost);
    for (std::uint32_t i = 0; i < steps && !wrong_.has_value(); ++i) {
      Step();
      LetTimePass();
    }
    return std::move(wrong_);
  }

 private:
  void ChangeSettings() {
    const auto nodes = static_cast<std::uint32_t>(state_.nodes().size());
    if (Chance(random_, 300)) {
      DrawSettings(random_, &config_);
    }
    if (Chance(random_, 300)) {
      DrawRareSettings(nodes, random_, &config_);
    }
    if (Chance(random_, 400)) {
      config_.mig = {MigClass{"all", "ALL", {}}};
    }
  }

  void LetTimePass() {
    now_ += Chance(random_, 900)   ? Duration(std::chrono::seconds(Draw(random_, 20)))
            : Chance(random_, 900) ? Duration(std::chrono::minutes(Draw(random_, 30)))
                                   : Duration(std::chrono::hours(Draw(random_, 48)));
  }

  void Step() {
    switch (random_.Below(12)) {
      case 0:
      case 1:
      case 2:
        return Plan();
      case 3:
      case 4:
        return Give(DrawNews(state_, now_, random_));
      case 5:
      case 6:
      case 7:
        return Give(DrawAsked(state_, now_, random_));
      case 8:
      case 9:
        return Give(DrawOrdered(state_, now_, random_));
      case 10:
        return GiveStarts();
      default:
        return GiveReports();
    }
  }

  // Of one job, so that some wait for the others.
  void GiveStarts() {
    const Job* const job = DrawHolder(state_, random_);
    const JobId id = job == nullptr ? JobId() : job->id;
    for (std::uint32_t i = 0; id.valid() && i < 3; ++i) {
      Give(DrawStart(state_, *state_.FindJob(id), random_));
    }
  }

  void GiveReports() {
    if (const Job* const job = DrawHolder(state_, random_)) {
      for (const Command& report : ReportsOfAll(*job, now_, random_)) {
        Give(report);
      }
    }
  }

  void Give(const Command& command) {
    const core::Transition found = core::Handle(state_, command, now_, config_);
    if (!found.status.ok() && (!found.events.empty() || !found.effects.empty())) {
      wrong_ = "a refused input made events or effects";
    }
    for (const Event& event : found.events) {
      state_.Apply(event);
      snapshots_.Note(event, state_.version());
    }
    for (const auto& broken : {core::BrokenInvariant(state_), core::BrokenGroup(state_)}) {
      if (broken.has_value()) {
        wrong_ = absl::StrCat("invariant, on a walk aside: ", *broken);
      }
    }
  }

  void Plan() {
    if (!core::NeedsCycle(state_)) {
      return;
    }
    const auto snapshot = snapshots_.Build(state_, now_, last_.get(), config_.network);
    last_ = std::make_shared<const muster::Plan>(core::MakePlan(snapshot, config_, planner_));
    if (core::MakePlan(*snapshot, config_).hash != last_->hash) {
      wrong_ = "on a walk aside a plan is another with what earlier cycles left";
      return;
    }
    if (!last_->waiting.empty() && Chance(random_, 300)) {
      const JobId job = last_->waiting[random_.Below(last_->waiting.size())].job;
      wrong_ = WrongAnswer(*snapshot, job, *last_, config_, Chance(random_, 100));
    }
    const std::vector<GpuWish> wishes = core::GpusWanted(*snapshot, *last_, config_);
    watch_.Want(core::NodesWanted(*snapshot, *last_, config_));
    if (!wrong_.has_value()) {
      Give(TakePlan{Chance(random_, 150) ? WrongPlan(state_, *last_, random_) : *last_});
    }
    if (!wrong_.has_value() && !wishes.empty()) {
      Give(LayOutGpus{wishes});
    }
    if (wrong_.has_value()) {
      return;
    }
    if (const auto orders = watch_.Look(state_, last_.get(), config_, now_)) {
      Give(*orders);
    }
  }

  core::ClusterState state_;
  Time now_;
  SchedulerConfig config_;
  RandomSequence& random_;
  core::SnapshotBuilder snapshots_;
  core::PlannerMemory planner_;
  core::PowerWatch watch_;
  std::shared_ptr<const muster::Plan> last_;
  std::optional<std::string> wrong_;
};

}  // namespace

std::optional<std::string> WrongWalk(core::ClusterState state, Time now, SchedulerConfig config,
                                     RandomSequence& random) {
  return SideWalk(std::move(state), now, std::move(config), random).Walk();
}

std::optional<std::string> WrongWalkOfANewCluster(Time now, SchedulerConfig config,
                                                  RandomSequence& random) {
  SideWalk walk(core::ClusterState(), now, std::move(config), random);
  walk.Begin();
  return walk.Walk();
}

}  // namespace muster::sim

#pragma once

// The controller's loop under a virtual clock: the same Step, Apply and MakePlan as in daemon/,
// without what keeps the journal.
//
// Thread promise: none; one thread. Invariants: (1) answers and orders wait in the group until its
// events are durable; (2) BrokenInvariant() is asked after every transition.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "scheduler/core/handle/handle.h"
#include "scheduler/core/plan/planner_memory.h"
#include "scheduler/core/plan/snapshot_builder.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/plan/cycle_record.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/settings/scheduler_config.h"
#include "scheduler/simulator/crash/faults.h"
#include "scheduler/simulator/crash/network.h"
#include "scheduler/simulator/crash/oracle.h"
#include "scheduler/simulator/crash/plan_check.h"
#include "scheduler/simulator/crash/planted.h"
#include "scheduler/simulator/crash/virtual_clock.h"

namespace muster::sim {

// What all controllers of a simulation share.
struct ControllerContext {
  VirtualClock& clock;
  SimulatedNetwork& network;
  Faults& faults;
  Oracle& oracle;
  LifeDefect defect = LifeDefect::kNone;
};

class ControllerLoop {
 public:
  // Called once the transition's events are durable; never when the controller dies before.
  using Done = std::function<void(const core::Transition&)>;

  // `index` is its number in the network.
  ControllerLoop(const ControllerContext& world, std::size_t index, SchedulerConfig policy);
  ControllerLoop(const ControllerLoop&) = delete;
  ControllerLoop& operator=(const ControllerLoop&) = delete;
  virtual ~ControllerLoop() = default;

  // Takes a client's request; lost while the controller is away.
  void Take(Command command, Done done);
  void Receive(Session session, const ToController& message);
  void NoticeLoss(Session session, Duration silent);

  [[nodiscard]] bool alive() const { return alive_; }
  [[nodiscard]] const core::ClusterState& state() const { return state_; }

 protected:
  struct Group {
    std::vector<JournalEntry> entries;
    std::vector<CycleRecord> cycles;
    std::vector<std::function<void()>> after;  // what leaves once the entries are durable
    std::optional<std::uint64_t> fingerprint;  // of the state with them, if taken
  };

  // The controller's own wall clock.
  [[nodiscard]] virtual Time Now() const { return world_.clock.now(); }
  // Sees to it that the group is written.
  virtual void WriteSoon() = 0;
  // Runs what has become due.
  virtual void Act(const std::function<void()>& action) { action(); }
  // An order is about to leave.
  virtual void Leaving(const ToAgent& /*order*/) {}

  // Runs it in `delay`, unless the controller has died by then.
  void Later(Duration delay, std::function<void()> action);
  std::shared_ptr<const core::Transition> Judge(const Command& command);
  void Apply(const std::vector<Event>& events);
  void Dispatch(const std::vector<Effect>& effects);
  void MaybePlan();
  // Looks after elastic jobs each second, while there are any.
  void WatchElastic();
  // Begins the next epoch in the state and the group.
  void BeginTerm(bool restored = false);
  // Forgets plans and streams, but no state.
  void Forget();
  // Nothing waits to be written or planned.
  [[nodiscard]] bool rests() const {
    return group_.entries.empty() && group_.after.empty() && !plan_wanted_ && !planning_;
  }

  const ControllerContext world_;
  const std::size_t index_;
  const std::shared_ptr<const SchedulerConfig> policy_;
  bool alive_ = false;
  std::uint64_t life_ = 0;  // counts its deaths
  core::ClusterState state_;
  Group group_;

 private:
  void Perform(const std::shared_ptr<const core::Transition>& transition, Done done);
  void Answer(Session session, const core::Transition& transition);
  std::optional<ToAgent> OrderOf(const Effect& effect) const;
  void TickElasticJobs();
  void OnPlan(const Plan& plan);

  bool plan_wanted_ = false;
  bool planning_ = false;
  std::uint64_t plans_ = 0;  // counts what was forgotten of them
  bool ticking_ = false;
  std::shared_ptr<const Plan> last_plan_;
  core::SnapshotBuilder snapshots_;
  core::PlannerMemory planner_memory_;
  PlanCheck plan_check_;
  std::map<Session, NodeId> node_of_;
  std::map<NodeId, Session> owner_;     // the stream that registered last
  std::map<NodeId, Session> welcomed_;  // the stream that orders go to
};

}  // namespace muster::sim

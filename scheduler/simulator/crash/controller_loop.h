#pragma once

// The controller's loop under a virtual clock: the same Step, Apply and MakePlan as in daemon/,
// without what keeps the journal.
//
// Thread promise: none; one thread. Invariants: (1) answers and orders wait in the group until its
// events are durable; (2) the checkers of invariants are asked after every transition.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/core/handle/handle.h"
#include "scheduler/core/handle/nodes/power_watch.h"
#include "scheduler/core/plan/planner_memory.h"
#include "scheduler/core/plan/snapshot_builder.h"
#include "scheduler/core/prompt/job_estimates.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/plan/cycle_record.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/settings/scheduler_config.h"
#include "scheduler/simulator/life/faults.h"
#include "scheduler/simulator/life/network.h"
#include "scheduler/simulator/life/oracle.h"
#include "scheduler/simulator/life/planted.h"
#include "scheduler/simulator/life/virtual_clock.h"
#include "scheduler/simulator/questions/asks.h"
#include "scheduler/simulator/questions/mistakes.h"
#include "scheduler/simulator/questions/plan_check.h"
#include "scheduler/simulator/questions/state_copies.h"

namespace muster::sim {

// What all controllers of a simulation share.
struct ControllerContext {
  VirtualClock& clock;
  SimulatedNetwork& network;
  Faults& faults;
  Oracle& oracle;
  LifeDefect defect = LifeDefect::kNone;
  // It looks after nodes and GPUs, too, and is asked all that there is to ask.
  bool whole = false;
  std::uint64_t seed = 0;                                            // of what is asked
  std::function<void(const std::string& node, bool on)> power = {};  // of a whole life
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
  // Looks after elastic jobs each second, while there are any, and after nodes in whole lives.
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
  KeptRows rows_;  // of a whole life
  Group group_;

 private:
  void Perform(const std::shared_ptr<const core::Transition>& transition, Done done);
  void Answer(Session session, const core::Transition& transition);
  void TickElasticJobs();
  void LookAtNodes();
  // What a cycle says besides its plan.
  struct Beside {
    std::vector<NodeId> wanted;
    std::vector<GpuWish> divided;
  };
  void OnPlan(const Plan& plan, const Beside& beside);

  bool plan_wanted_ = false;
  bool planning_ = false;
  std::uint64_t plans_ = 0;  // counts what was forgotten of them
  bool ticking_ = false;
  bool looking_ = false;
  std::shared_ptr<const Plan> last_plan_;
  // From cycle to cycle.
  struct Memory {
    core::SnapshotBuilder snapshots;
    core::PlannerMemory planner;
    core::JobEstimates estimates;
  };
  Memory memory_;
  core::PowerWatch power_watch_;
  struct Judges {
    PlanCheck plans;
    Asks answers;
    Mistakes commands;
  };
  Judges judges_;
  std::map<Session, NodeId> node_of_;
  std::map<NodeId, Session> owner_;     // the stream that registered last
  std::map<NodeId, Session> welcomed_;  // the stream that orders go to
};

}  // namespace muster::sim

#pragma once

// The controller's loop under a virtual clock: the same Step, Apply and MakePlan as in daemon/,
// with a journal that commits in batches and a process that can die at any point.
//
// Thread promise: none; one thread. Invariants: (1) answers and orders leave only after their
// events are in the journal; (2) death loses everything but the journal, and a commit under way may
// be in or not; (3) BrokenInvariant() is asked after every transition, and a replay of the journal
// must give the state that was committed, fingerprint for fingerprint.

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
#include "scheduler/simulator/crash/virtual_clock.h"

namespace muster::sim {

class SimulatedController {
 public:
  // Called once the transition's events are durable; never when the controller dies before.
  using Done = std::function<void(const core::Transition&)>;

  SimulatedController(VirtualClock& clock, SimulatedNetwork& network, Faults& faults,
                      Oracle& oracle, SchedulerConfig policy);
  SimulatedController(const SimulatedController&) = delete;
  SimulatedController& operator=(const SimulatedController&) = delete;

  void Start();
  // Dies, and comes back in its own time.
  void Die();
  // Takes a client's request; lost while the controller is away.
  void Take(const Command& command, Done done);
  void Receive(Session session, const ToController& message);
  void NoticeLoss(Session session, Duration silent);

  [[nodiscard]] bool alive() const { return alive_; }
  // True when nothing waits to be written or planned, and no job is live.
  [[nodiscard]] bool idle() const;
  [[nodiscard]] const core::ClusterState& state() const { return state_; }
  [[nodiscard]] const std::vector<JournalEntry>& journal() const { return journal_; }
  // Replays the whole journal and compares the state at commits, every plan and every start, and
  // the state in the end, with what they were.
  void CheckReplay();

 private:
  struct Group {
    std::vector<JournalEntry> entries;
    std::vector<CycleRecord> cycles;
    std::vector<std::function<void()>> after;  // what leaves once the entries are durable
    std::optional<std::uint64_t> fingerprint;  // of the state with them, if taken
  };
  struct Commit {
    Version version;
    std::optional<std::uint64_t> fingerprint;
  };

  void Later(Duration delay, void (SimulatedController::*action)());
  std::shared_ptr<const core::Transition> Judge(const Command& command);
  void Perform(const std::shared_ptr<const core::Transition>& transition, Done done);
  void Answer(Session session, const core::Transition& transition);
  void Apply(const std::vector<Event>& events);
  void Dispatch(const std::vector<Effect>& effects);
  std::optional<ToAgent> OrderOf(const Effect& effect) const;
  void Send(NodeId node, const ToAgent& message);
  void WriteSoon();
  void CloseGroup();
  void Durable();
  void Keep(Group& group);
  void MaybePlan();
  // Looks after elastic jobs each second, while there are any.
  void WatchElastic();
  void TickElasticJobs();
  void OnPlan(const Plan& plan);

  VirtualClock& clock_;
  SimulatedNetwork& network_;
  Faults& faults_;
  Oracle& oracle_;
  const std::shared_ptr<const SchedulerConfig> policy_;

  // On disk.
  std::vector<JournalEntry> journal_;
  std::vector<CycleRecord> cycles_;
  std::vector<Commit> commits_;

  // In memory.
  bool alive_ = false;
  std::uint64_t life_ = 0;  // counts its deaths
  core::ClusterState state_;
  Group group_;
  std::optional<Group> writing_;
  bool write_asked_ = false;
  bool plan_wanted_ = false;
  bool planning_ = false;
  bool ticking_ = false;
  std::shared_ptr<const Plan> last_plan_;
  core::SnapshotBuilder snapshots_;
  core::PlannerMemory planner_memory_;
  std::map<Session, NodeId> node_of_;
  std::map<NodeId, Session> owner_;     // the stream that registered last
  std::map<NodeId, Session> welcomed_;  // the stream that orders go to
};

}  // namespace muster::sim

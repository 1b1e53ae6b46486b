#pragma once

// A history: a random sequence of inputs to the core, with agents that keep the truth of what runs.
//
// The simulated agents hold attempts as real ones do: each has a journal of facts that is sent
// until it is acknowledged; links break, nodes reboot, records get lost, plans come late, the
// controller restarts from what its store would hold. Thread promise: one thread. Invariants: the
// same seed makes the same history; every event is recorded; after every event the state's
// invariants were checked.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/core/handle/handle.h"
#include "scheduler/core/plan/planner_memory.h"
#include "scheduler/core/plan/snapshot_builder.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/plan/cycle_record.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core::testing {

// An attempt as its agent has it.
struct SimAttempt {
  NodeAllocation allocation;
  std::vector<Fact> journal;
  std::uint64_t acknowledged = 0;
  bool ended = false;
  bool foreign = false;  // nobody in this history ordered it
  std::uint32_t suspension = 0;
  bool frozen = false;
};

struct SimAgent {
  NodeId id;
  Registration registration;  // without attempts
  bool linked = false;        // orders and reports get through
  std::map<std::pair<JobId, AttemptNumber>, SimAttempt> attempts;
};

class History {
 public:
  explicit History(std::uint64_t seed);

  // One random input or fact of the world.
  void Turn();
  // Faults stop: everybody comes back, everything ends.
  void Settle();

  // What the state got wrong, as a sentence; empty while all is well.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const ClusterState& state() const { return state_; }
  [[nodiscard]] const std::vector<Event>& events() const { return events_; }
  // Every cycle, with its place in the journal.
  [[nodiscard]] const std::vector<CycleRecord>& cycles() const { return cycles_; }
  // Called with each cycle.
  using Seen = std::function<void(const Snapshot& snapshot, const SchedulerConfig& config,
                                  const Plan& plan)>;
  void OnCycle(Seen seen) { seen_ = std::move(seen); }
  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] const SchedulerConfig& config() const { return config_; }
  // What the store would hand back; `apart`: with a job of its own for each element of an array.
  [[nodiscard]] StateImage Image(bool apart = false) const;

 private:
  std::uint32_t Number(std::uint32_t low, std::uint32_t high);
  bool Chance(std::uint32_t percent) { return Number(1, 100) <= percent; }
  muster::core::Transition Take(const Command& command);
  void Perform(const std::vector<Effect>& effects);
  void WishForLayout(const SimAgent& agent);
  void SeeToHealth(const SimAgent& agent);
  void Perform(const Launch& order);
  void Perform(const LaunchStep& order);
  void Perform(const PassSignal&) {}  // changes nothing here
  void Perform(const ShowStep&) {}
  void Perform(const Advise&) {}
  void Perform(const Terminate& order);
  void Perform(const Acknowledge& order);
  void Perform(const Suspend& order) { Freeze(order, false); }
  void Perform(const Resume& order) { Freeze(order, true); }
  template <class Order>
  void Freeze(const Order& order, bool resume);
  void Perform(const CheckHealth&) {}
  void Perform(const Replan&) {}
  void Perform(const SwitchPower& order);
  void Perform(const DivideGpu& order);
  void Fail(const std::string& problem);
  void CheckTruth();

  ResourceRequest AnyRequest();
  JobSpec AnySpec();
  JobId AnyJob();
  SimAgent& AnyAgent() {
    return agents_[Number(0, static_cast<std::uint32_t>(agents_.size()) - 1)];
  }
  SimAgent* AgentOf(NodeId node);
  // An agent that the order gets through to; when the link breaks, nobody.
  SimAgent* Reach(NodeId node);

  void Submit();
  void CancelOrHold();
  void SuspendOrResume();
  void StartAStep();
  void ChangeSomePolicy();
  void LiftPolicy();
  // The cycle, with the memory of those before and without: the plans must be equal.
  Plan MakePlanTwice();
  void CheckVerifies(const Plan& plan);
  void LookOrStart();
  void Progress(SimAgent& agent);
  void Send(SimAgent& agent);
  void Lose(SimAgent& agent);
  void Register(SimAgent& agent);
  void DrainOrForget(SimAgent& agent);
  void Reboot(SimAgent& agent);
  void LoseRecord(SimAgent& agent);
  void FindForeign(SimAgent& agent);
  void SwitchSomeNodes();
  void SettleSomeAlerts();
  void NarrowSomeLink();
  void ResumeLinks();
  std::uint32_t turns_ = 0;
  void Restart();
  void SettleOnce();

  std::mt19937_64 random_;
  ClusterState state_;
  SchedulerConfig config_;
  Time now_;
  std::vector<Event> events_;
  std::vector<SimAgent> agents_;
  SnapshotBuilder snapshots_;
  PlannerMemory memory_;
  std::deque<Plan> plans_;  // made, not taken yet
  std::optional<Plan> last_plan_;
  std::vector<CycleRecord> cycles_;
  Seen seen_;
  std::vector<SubmitJob> submitted_;
  std::vector<JobId> answers_;  // parallel to submitted_
  bool settling_ = false;
  std::string problem_;
};

}  // namespace muster::core::testing

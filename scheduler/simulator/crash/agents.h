#pragma once

// A simulated node: its agent, what the agent has on record, and the processes of jobs.
//
// It answers the controller's orders as the real agent does (agent/): it refuses old epochs, takes
// an order twice with one effect, reports facts in order and sends again what was not acknowledged.
// Thread promise: none; one thread. Invariants: (1) the agent's death ends no process, and what
// happens meanwhile is on record; (2) a reboot, and a node that is set up again (its record is
// lost), end all of them; (3) the oracle hears at that moment of all that begins and ends.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/model/job/order.h"
#include "scheduler/model/job/report.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/machine/node.h"
#include "scheduler/simulator/crash/faults.h"
#include "scheduler/simulator/crash/network.h"
#include "scheduler/simulator/crash/oracle.h"
#include "scheduler/simulator/crash/planted.h"
#include "scheduler/simulator/crash/virtual_clock.h"

namespace muster::sim {

// What all agents of a simulation share.
struct AgentContext {
  VirtualClock& clock;
  SimulatedNetwork& network;
  Faults& faults;
  Oracle& oracle;
  LifeDefect defect = LifeDefect::kNone;
};

enum class AgentDeath : std::uint8_t {
  kProcess,     // the agent alone; its record and the jobs stay
  kReboot,      // the node went down; the record stays
  kGpuLost,     // the same, and it comes back with one GPU less, until it is mended
  kPowerLost,   // the same, and what was not synced is gone
  kRecordLost,  // the node was set up again
};

class SimulatedAgent {
 public:
  // `index` is its number in the network.
  SimulatedAgent(const AgentContext& world, std::size_t index, std::string name, Machine machine);
  SimulatedAgent(const SimulatedAgent&) = delete;
  SimulatedAgent& operator=(const SimulatedAgent&) = delete;

  void Start();
  // Dies, and comes back in its own time.
  void Die(AgentDeath how);
  void Receive(Session session, const ToAgent& message);
  void NoticeLoss(Session session);

  // True when it is there, connected and has nothing on record.
  [[nodiscard]] bool idle() const { return alive_ && node_.valid() && attempts_.empty(); }
  [[nodiscard]] bool alive() const { return alive_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  // One line on what it has, for a report of a failure.
  [[nodiscard]] std::string Describe() const;

 private:
  using Key = std::pair<JobId, AttemptNumber>;
  enum class Phase : std::uint8_t { kOrdered, kRunning, kEnded };
  struct LocalAttempt {
    std::uint64_t serial = 0;  // tells it from an earlier one of the same key
    Phase phase = Phase::kOrdered;
    NodeAllocation part;
    JobKind kind = JobKind::kBatch;
    bool leads = false;  // the batch script runs here
    Duration time_limit{0};
    Time began = kNoTime;
    std::uint32_t advised = 0;  // the highest number
    bool elastic = false;
    std::map<StepId, CpuSet> steps;  // under way, and their hardware threads here
    std::set<StepId> known_steps;    // ever ordered
    std::vector<Fact> journal;
    std::uint64_t sent = 0;
    std::uint64_t acknowledged = 0;
    std::uint32_t suspension = 0;  // the highest that was ordered
    Time frozen = kNoTime;         // since when; kNoTime: it runs
    Duration slept{0};             // how long it was frozen before
    bool forgotten = false;        // the controller may not know all that it has ordered of it
  };

  void Connect();
  void Detach();
  [[nodiscard]] bool Admits(NodeId node, Epoch epoch, Time expiry);

  void On(const Welcome& welcome);
  void On(const Refusal& refusal);
  void On(const LaunchOrder& order);
  void On(const StepOrder& order);
  void On(const TerminateOrder& order);
  void On(const Acknowledge& ack);
  void On(const SuspendOrder& order);
  void On(const AdviceOrder& order);

  // Runs `action` on the attempt later, unless it is gone or over by then; later by so much as it
  // is frozen meanwhile.
  void Later(Duration delay, const Key& key, void (SimulatedAgent::*action)(const Key&));
  void Fire(const Key& key, std::uint64_t serial, Duration slept,
            void (SimulatedAgent::*action)(const Key&));
  // For so long it was frozen by now.
  [[nodiscard]] Duration SleptBy(const LocalAttempt& attempt) const;
  void Freeze(const Key& key);
  void Thaw(const Key& key);
  void StepEnds(const Key& key, StepId step);
  void Run(const Key& key);
  void ExitItself(const Key& key);
  void KeepLimit(const Key& key);
  // Ends the part of an elastic job once the controller has not heard the node for the lease; by
  // the supervisor, which needs no agent for it.
  void WatchLease(const Key& key, std::uint64_t serial);
  void EndStep(const Key& key, StepId step);
  void Finish(const Key& key, EndCause cause, ExitStatus status);
  void Write(LocalAttempt& attempt, Fact fact, const Key& key);
  void Pump(const Key& key, LocalAttempt& attempt);
  // Nothing of an attempt is synced: where the power is lost, all of it is left, a part of its
  // journal, or none.
  void EndAllProcesses(bool power_lost);

  const AgentContext world_;
  const std::size_t index_;
  const std::string name_;
  const Machine machine_;

  // On disk.
  struct {
    std::uint64_t instance = 1;
    std::uint64_t boot = 1;
    bool gpu_lost = false;                   // the last one
    std::map<Key, std::uint64_t> told = {};  // reports of each that were ever sent
  } node_is_;
  Epoch epoch_;
  std::map<Key, LocalAttempt> attempts_;

  // In the agent's memory.
  bool alive_ = true;
  std::uint64_t life_ = 0;  // counts its deaths
  Session session_ = 0;
  NodeId node_;  // valid once welcomed
  std::set<Key> finished_;
  std::uint64_t serial_ = 0;
  Time heard_ = kNoTime;  // when the controller heard the node last, as supervisors know it
};

}  // namespace muster::sim

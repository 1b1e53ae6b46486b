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
#include <string>
#include <vector>

#include "scheduler/model/job/order.h"
#include "scheduler/model/machine/health.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/machine/mig.h"
#include "scheduler/simulator/crash/agent_runs.h"
#include "scheduler/simulator/life/network.h"

namespace muster::sim {

enum class AgentDeath : std::uint8_t {
  kProcess,     // the agent alone; its record and the jobs stay
  kReboot,      // the node went down; the record stays
  kGpuLost,     // the same, and it comes back with one GPU less, until it is mended
  kPowerLost,   // the same, and what was not synced is gone
  kRecordLost,  // the node was set up again
};

class SimulatedAgent : private AgentRuns {
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

  // The node's power goes off or on, in its own time. Broken: a job ran there.
  void SwitchPower(bool on);

  // True when it is there, connected and has nothing on record.
  [[nodiscard]] bool idle() const { return alive_ && node_.valid() && attempts_.empty(); }
  [[nodiscard]] bool is_off() const { return node_is_.off && !alive_ && attempts_.empty(); }
  [[nodiscard]] bool alive() const { return alive_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  // One line on what it has, for a report of a failure.
  [[nodiscard]] std::string Describe() const;

 private:
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
  void On(const HealthOrder& order);
  void On(const LayoutOrder& order);
  void On(const SignalOrder& order);
  // Divides the GPU, or says why not, and registers again.
  void Divide(const LayoutOrder& order);
  [[nodiscard]] bool UsesPartOf(const std::string& gpu) const;

  // Nothing of an attempt is synced: where the power is lost, all of it is left, a part of its
  // journal, or none.
  void EndAllProcesses(bool power_lost);

  const std::size_t index_;
  Machine machine_;
  std::vector<std::string> features_;
  std::uint64_t life_ = 0;  // counts its deaths
  std::uint64_t serial_ = 0;
};

}  // namespace muster::sim

#pragma once

// The processes of jobs on a simulated node, and what is written and sent of them.
//
// They run, save, end by themselves or by their limit, whether the agent lives or not. Thread
// promise: none; one thread. Invariants: facts of an attempt have no gaps and are sent in order;
// the oracle hears at that moment of all that begins and ends.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/model/job/checkpoint_record.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/job/order.h"
#include "scheduler/model/job/report.h"
#include "scheduler/model/machine/mig.h"
#include "scheduler/model/machine/node.h"
#include "scheduler/simulator/life/faults.h"
#include "scheduler/simulator/life/network.h"
#include "scheduler/simulator/life/oracle.h"
#include "scheduler/simulator/life/planted.h"
#include "scheduler/simulator/life/virtual_clock.h"
#include "scheduler/simulator/random_sequence.h"

namespace muster::sim {

// What all agents of a simulation share.
struct AgentContext {
  VirtualClock& clock;
  SimulatedNetwork& network;
  Faults& faults;
  Oracle& oracle;
  LifeDefect defect = LifeDefect::kNone;
  bool whole = false;      // they say, and do, all that there is
  std::uint64_t seed = 0;  // of that
};

inline constexpr std::int32_t kTermSignal = 15;
inline constexpr std::int32_t kKillSignal = 9;

// Their positions on the node.
inline CpuSet GpusOf(const NodeAllocation& part) {
  CpuSet gpus;
  for (const GpuGrant& grant : part.gpus) {
    gpus.Insert(grant.gpu);
  }
  return gpus;
}

class AgentRuns {
 public:
  AgentRuns(const AgentContext& world, std::size_t index, std::string name);
  AgentRuns(const AgentRuns&) = delete;
  AgentRuns& operator=(const AgentRuns&) = delete;

 protected:
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
    JobSpec spec;
    CheckpointRecord checkpoints;
  };

  // Runs `action` on the attempt later, unless it is gone or over by then; later by so much as it
  // is frozen meanwhile.
  void Later(Duration delay, const Key& key, void (AgentRuns::*action)(const Key&));
  void Fire(const Key& key, std::uint64_t serial, Duration slept,
            void (AgentRuns::*action)(const Key&));
  // For so long it was frozen by now.
  [[nodiscard]] Duration SleptBy(const LocalAttempt& attempt) const;
  void Freeze(const Key& key);
  void Thaw(const Key& key);
  void StepEnds(const Key& key, StepId step);
  void Run(const Key& key);
  void ExitItself(const Key& key);
  // Its programs save their work, now and then or because they were told to.
  void Save(const Key& key);
  void KeepLimit(const Key& key);
  // Ends the part of an elastic job once the controller has not heard the node for the lease; by
  // the supervisor, which needs no agent for it.
  void WatchLease(const Key& key, std::uint64_t serial);
  void EndStep(const Key& key, StepId step);
  void Finish(const Key& key, EndCause cause, ExitStatus status);
  void Write(LocalAttempt& attempt, Fact fact, const Key& key);
  void Pump(const Key& key, LocalAttempt& attempt);
  const AgentContext world_;
  const std::string name_;
  RandomSequence random_;  // of what it says and does in whole lives; others draw nothing of it

  // On disk.
  struct {
    std::uint64_t instance = 1;
    std::uint64_t boot = 1;
    bool off = false;
    std::uint64_t switched = 0;  // how often
    LayoutReport layout = {};
    bool gpu_lost = false;                   // the last one
    std::map<Key, std::uint64_t> told = {};  // reports of each that were ever sent
  } node_is_;
  Epoch epoch_;
  std::map<Key, LocalAttempt> attempts_;

  // In the agent's memory.
  bool alive_ = true;
  Session session_ = 0;
  NodeId node_;  // valid once welcomed
  std::set<Key> finished_;
  Time heard_ = kNoTime;  // when the controller heard the node last, as supervisors know it
};

}  // namespace muster::sim

#pragma once

// What a simulation of a cluster is given, and what comes of it.
//
// Invariant: together with its trace a run says all that its result depends on.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/machine/machine.h"
#include "scheduler/model/policy/policy.h"
#include "scheduler/model/settings/scheduler_config.h"
#include "scheduler/simulator/cluster/checkpointed_work.h"
#include "scheduler/simulator/cluster/free_room.h"
#include "scheduler/simulator/cluster/node_energy.h"
#include "scheduler/simulator/cluster/shared_file_system.h"
#include "scheduler/simulator/flat/flat_simulation.h"
#include "scheduler/simulator/workload/node_failures.h"

namespace muster::sim {

// Nodes that are alike: NAME1, NAME2, …
struct NodeClass {
  std::string name = "n";
  std::uint32_t count = 0;
  Machine machine;
  std::vector<std::string> features;
  std::uint32_t weight = 0;
  FailureLaw failures;
};

struct ClusterRun {
  std::string trace;
  std::optional<TraceFormat> format;  // else it is recognised
  std::vector<NodeClass> nodes;
  SchedulerConfig config;
  std::vector<PolicyObject> policy;  // partitions, QOS, accounts: in force before the first job
  Estimates estimates = Estimates::kRequested;  // not kLastTwo; kLearned of prompt
  bool lenient = false;
  std::optional<std::vector<LoggedFailure>> failure_log;  // instead of the classes' laws
  std::uint64_t seed = 1;                                 // of the failures
  JobCheckpoints checkpoints;
  FileSystem file_system;  // where they are written; only if they have a size
  // The interval for a job whose nodes together fail once in `mtbf_s` on average, instead of
  // checkpoints.interval; 0: none. REQUIRES: a class has a law.
  std::function<std::int64_t(const JobCheckpoints& checkpoints, double mtbf_s)> interval_for;
  DecisionLog* decisions = nullptr;  // of the caller: decisions come from there and go there
};

struct ClusterResult {
  FlatResult schedule;  // its processors are hardware threads
  std::uint64_t gpus = 0;
  std::uint64_t gpu_seconds = 0;  // that jobs held
  std::uint64_t cycles = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t lost_seconds = 0;  // of runs that were preempted and begun again
  bool faults = false;             // nodes could fail, or jobs wrote checkpoints
  FailureTotals failures;
  FreeRoom threads;  // hardware threads that nobody has
  // GPUs that nobody has, as far as there is a thread for each: where they are of one model,
  // `largest` is on_node of core/place/worth/largest_gpu_job.h, and `free` anywhere.
  FreeRoom free_gpus;
  std::optional<NodeEnergy> energy;  // where nodes could be switched off
  std::uint64_t refused = 0;         // by the policy, or because no node could ever take them
  std::string first_refusal;         // why the first of them was
  std::uint64_t state_hash = 0;      // of the state in the end: two equal runs have the same
};

}  // namespace muster::sim

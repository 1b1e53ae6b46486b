#pragma once

// A trace on a cluster of nodes, under the very code that schedules live: core/step, MakePlan.
//
// The loop is the controller's, with a clock that jumps from one instant to the next: all ends, all
// arrivals in order of (submit, id), then passes until a pass has nothing to do. Agents answer at
// once and never fail. Nothing is kept of a job that has ended. Thread promise: one thread; two
// simulations share nothing but the file. Invariants: the same trace and options give the same
// rows in the same order on every machine and build.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/model/input.h"
#include "scheduler/model/machine.h"
#include "scheduler/model/policy_config.h"
#include "scheduler/simulator/flat_simulation.h"

namespace muster {

// Nodes that are alike: NAME1, NAME2, …
struct NodeClass {
  std::string name = "n";
  std::uint32_t count = 0;
  Machine machine;
  std::vector<std::string> features;
  std::uint32_t weight = 0;
};

struct ClusterRun {
  std::string trace;
  std::optional<TraceFormat> format;  // else it is recognised
  std::vector<NodeClass> nodes;
  PolicyConfig config;
  std::vector<PolicyObject> policy;  // partitions, QOS, accounts: in force before the first job
  Estimates estimates = Estimates::kRequested;  // not kLastTwo
  bool lenient = false;
};

struct ClusterResult {
  FlatResult schedule;  // its processors are hardware threads
  std::uint64_t gpus = 0;
  std::uint64_t gpu_seconds = 0;  // that jobs held
  std::uint64_t passes = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t lost_seconds = 0;  // of runs that were preempted and begun again
  std::uint64_t refused = 0;       // by the policy, or because no node could ever take them
  std::string first_refusal;       // why the first of them was
  std::uint64_t state_print = 0;   // of the state in the end: two equal runs have the same
};

// Rows: processors are numbered node by node, in the order of the nodes.
absl::StatusOr<ClusterResult> SimulateCluster(const ClusterRun& run, FlatObserver& observer);

// A machine of so many cores with one thread each on one NUMA node, and GPUs that are joined two by
// two by NVLink. `memory` zero: as much as any job may ask for.
Machine PlainMachine(std::uint32_t cpus, std::uint32_t gpus, const std::string& gpu_model,
                     Bytes memory);

}  // namespace muster

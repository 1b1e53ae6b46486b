#pragma once

// What `muster place` is asked for, the cluster that follows from it, and the plan that the core
// makes of both.
//
// The plan is MakePlan's: the very function that plans live, on a snapshot of idle nodes with one
// waiting job. Thread promise: the main thread's (hwloc, see topology/hwloc/hwloc_topology.h).
// Invariants: a cluster is loaded whole or not at all.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "scheduler/core/place/worth/placement_quality.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/machine/network.h"
#include "scheduler/model/plan/reason.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::cli {

struct PlaceOptions {
  std::vector<std::string> topologies;  // one: every node is that machine
  std::string network;                  // a file; empty: none
  std::uint32_t nodes = 0;              // --cluster-nodes; 0: not given
  std::string features;                 // as up takes them; empty: none
  std::string gres;                     // the same
  Bytes message = core::kMessage;       // of the collectives that are predicted
  JobSpec spec;                         // normalised
};

struct PlaceCluster {
  std::vector<NodeSnapshot> nodes;
  std::shared_ptr<const Network> network;  // null: none was given
  std::vector<std::string> remarks;        // of the machines and the network, each once
};

struct PlaceOutcome {
  std::optional<Allocation> allocation;
  Reason reason;  // when there is none
};

// The verb's own options, and those of submit that bear on where a job goes.
std::vector<Option> PlaceOptionTable();
// InvalidArgument for what is no request at all.
absl::StatusOr<PlaceOptions> ReadPlaceOptions(const Invocation& invocation);

// Reads the files. Nodes are called node1, node2, …, or as the network calls them.
absl::StatusOr<PlaceCluster> LoadPlaceCluster(const PlaceOptions& options);

PlaceOutcome PlanPlacement(const PlaceCluster& cluster, const JobSpec& spec);

}  // namespace muster::cli

#pragma once

// What a job's placement is worth: how many ranks are local, how far it reaches over the network,
// and how long its collectives are predicted to take, here and where a scheduler without topology
// would have put it (core/place/worth/placement_cost, core/place/nodes/block_placement).
//
// Invariants: the same placement and cluster give the same answer.

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/core/place/worth/collective_cost.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/machine/network.h"
#include "scheduler/model/plan/explanation.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

// The size for which collectives are predicted, where none is given.
inline constexpr Bytes kMessage{std::uint64_t{1} << 30};

// The collectives that are predicted, by the names that documents give them.
inline constexpr std::array<std::pair<const char*, Collective>, 3> kCollectives = {
    {{"allreduce", Collective::kAllReduce},
     {"allgather", Collective::kAllGather},
     {"reducescatter", Collective::kReduceScatter}}};

// "below switch s1, 2 leaf switches"; empty where nothing is known.
std::string SpanSentence(const Network& network, const std::vector<std::string>& nodes);

// `nodes` has the allocation's. `network`: null when it is not known. Nothing is said of where the
// job would have been without topology.
PlacementQuality WorthOf(const Allocation& allocation, const std::vector<NodeSnapshot>& nodes,
                         const Network* network);

// Adds that. `nodes` are all of the cluster's, as the snapshot has them; what the job itself has of
// them is looked past.
void Compare(JobId job, const Allocation& allocation, const ResourceRequest& request,
             const std::vector<NodeSnapshot>& nodes, const Network* network,
             PlacementQuality& worth);

}  // namespace muster::core

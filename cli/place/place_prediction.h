#pragma once

// What `muster place` says of collectives: their predicted times where the core puts the job, and
// where a scheduler without knowledge of topology would put it.
//
// Pure. Invariants: both are predicted by the same model, for the same bytes; text and JSON say the
// same.

#include <optional>
#include <string>
#include <vector>

#include "cli/frame/json_output.h"
#include "cli/place/place_plan.h"
#include "scheduler/core/place/locality.h"
#include "scheduler/core/place/worth/placement_cost.h"

namespace muster::cli {

// The allocation's parts with their machines. REQUIRES: they are the cluster's.
std::vector<core::PlacedPart> PartsOf(const PlaceCluster& cluster, const Allocation& allocation);
core::Locality LocalityOf(const std::vector<core::PlacedPart>& parts);

// {"bytes","chosen","default"}, the latter null where filling nodes block by block does not place
// the job; each is {"locality","nodes","allreduce","allgather","reducescatter","links"}.
Json PredictionJson(const PlaceCluster& cluster, const Allocation& chosen,
                    const PlaceOptions& options);

// The all-reduce alone, in a line for each placement; empty when nothing is joined.
std::string PredictionText(const PlaceCluster& cluster, const Allocation& chosen,
                           const PlaceOptions& options);

}  // namespace muster::cli

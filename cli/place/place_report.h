#pragma once

// What `muster place` prints: the binding map as a tree and as a JSON document.
//
// Pure. Invariants: the two say the same.

#include <string>

#include "cli/page/style.h"
#include "cli/place/place_plan.h"

namespace muster::cli {

// {"nodes":[{"name","machine","ranks":[{"rank","cpus","mem_nodes","gpus","nic","local"}]}],
// "locality","span","predicted","remarks"}; {"reason":{"kind","text",…}} where nothing was placed.
// "predicted" is place_prediction's, with the weakest links.
// GPUs are the driver's numbers as text; bandwidths are MB/s in one direction.
std::string PlaceDocument(const PlaceCluster& cluster, const PlaceOutcome& outcome,
                          const PlaceOptions& options);

// REQUIRES: an allocation.
std::string PrintPlacement(const PlaceCluster& cluster, const Allocation& allocation,
                           const PlaceOptions& options, const Style& style);

}  // namespace muster::cli

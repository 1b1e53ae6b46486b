#pragma once

// Pictures of nodes and of a placement, for --svg.
//
// Invariants: a file is written whole or not at all.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/place/place_plan.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

// The machines of live nodes, coloured by the jobs that hold them.
std::string PictureOf(const std::vector<NodeView>& nodes);

// The network, if one is known, with the job's nodes; then the machines of the first of these,
// coloured by rank.
std::string PictureOf(const PlaceCluster& cluster, const Allocation& allocation);

absl::Status WritePicture(const std::string& path, const std::string& picture);

}  // namespace muster::cli

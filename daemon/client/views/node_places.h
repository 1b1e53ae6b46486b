#pragma once

// Where nodes are in the cluster's network, as answers show it.

#include <vector>

#include "scheduler/model/machine/network.h"
#include "scheduler/model/view/view.h"

namespace muster::daemon {

// Gives each node the names of the switches above it, from the top; where the network has none for
// it, that of its block. One that is not on the map, or without a map (null), has none.
void AddPlaces(const Network* network, std::vector<NodeView>& nodes);

}  // namespace muster::daemon

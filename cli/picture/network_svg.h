#pragma once

// A network as a picture: the tree of switches, the nodes below their leaf, NVLink domains and
// blocks as stripes, and which nodes a job has.
//
// Leaves stand side by side, each with its nodes in rows of eight; what hangs on no switch stands
// last. Pure. Invariants: every switch and node of the network is one box, whose title begins with
// "switch NAME" or "node NAME".

#include <map>
#include <string>

#include "cli/picture/svg.h"
#include "scheduler/model/machine/network.h"

namespace muster::cli {

// By node name: the text in its box, like "0-7" for ranks. Nodes that are not named are free.
using SvgNodeUse = std::map<std::string, std::string>;

// Draws the network below `top`; where its picture ends.
double DrawNetwork(const Network& network, const SvgNodeUse& used, double top, Svg& svg);

}  // namespace muster::cli

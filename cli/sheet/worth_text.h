#pragma once

// What a placement is worth, in words: locality, span, predicted collectives.
//
// Pure. Invariants: a line for each thing that is known.

#include <string>

#include "scheduler/model/plan/explanation.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

// "12.3 ms".
std::string PredictedTime(double seconds);
// "4/4 ranks local, below switch s1, 2 leaf switches"; empty when nothing is known.
std::string LocalityText(const PlacementQuality& worth);
// "all-reduce of 1 GiB in 2.98 ms (ring); in blocks 11.9 ms (ring)"; empty for a job on one node
// with at most one GPU, whose ranks are not expected to send that much, and for one that sends
// nothing.
std::string CollectiveText(const PlacementQuality& worth, const JobView& job);

}  // namespace muster::cli

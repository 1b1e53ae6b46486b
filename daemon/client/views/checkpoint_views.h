#pragma once

// How often an attempt is advised to checkpoint, and why, in words for people.

#include <string>
#include <vector>

#include "scheduler/model/job/job.h"

namespace muster::daemon {

// "every 18 min (Daly: cost 4.2 s measured, one failure in 37 h on 4 nodes)", for an attempt whose
// programs make checkpoints at an interval that we choose; of one that makes them on the node and
// has them copied "every 3 min on the node (…), every 4th to the shared directory (copied in 40 s,
// one loss of a node in 26 h)".
std::string IntervalText(const Attempt& attempt);

// The same for a program of that environment: as it was asked for where it was; empty where it gave
// no interval.
std::string IntervalText(const std::vector<std::string>& environment, const std::string& automatic);

}  // namespace muster::daemon

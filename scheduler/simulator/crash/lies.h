#pragma once

// What an agent tells that lies: of jobs that others run, of attempts that nobody ordered, out of
// order.
//
// Invariant: whoever believes none of it is harmed by none of it: a lie about a job says that it is
// not the next that the controller waits for.

#include <optional>

#include "scheduler/model/job/report.h"
#include "scheduler/model/machine/node.h"
#include "scheduler/simulator/life/faults.h"

namespace muster::sim {

// Now and then a report that nothing was written for.
std::optional<Report> DrawFalseReport(Faults& faults, Time now);

// Now and then an attempt that the agent does not have; by that number nothing is ever ordered.
std::optional<KnownAttempt> DrawPhantom(Faults& faults);

}  // namespace muster::sim

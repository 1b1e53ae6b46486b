#pragma once

// What a replica's programs reported over the last while, as one number.
//
// Pure. Invariants: only numbers count, each for as much of the time as its point lies within; a
// curve without a point in it says nothing.

#include <optional>
#include <string>

#include "scheduler/model/value/time.h"
#include "scheduler/model/view/curve.h"

namespace muster::cli {

std::optional<double> ReportedLoad(const JobCurve& curve, const std::string& metric, Time from,
                                   Time to);

}  // namespace muster::cli

#pragma once

// What jobs used and reported over time, as a trace that Perfetto and chrome://tracing open:
// counters of the Trace Event Format.
//
// Pure. Invariant: the text is one JSON document; a value that is no number is left out.

#include <string>
#include <vector>

#include "scheduler/model/view/curve.h"

namespace muster::cli {

std::string CurveTrace(const std::vector<JobCurve>& curves);

}  // namespace muster::cli

#pragma once

// What a job used over time, as lines of a terminal.
//
// Pure. Invariant: a line is no wider than the page.

#include <string>

#include "cli/page/style.h"
#include "scheduler/model/view/curve.h"

namespace muster::cli {

// A line for each kind that was used: its course, its mean and its most.
std::string PrintCurve(const JobCurve& curve, const Style& style);

}  // namespace muster::cli

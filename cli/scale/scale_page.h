#pragma once

// What `muster scale` prints: a table with the law below it, or a JSON document.
//
// Pure. Invariants: a number in the document is not rounded; what the page says of the law and of
// the knee follows from the points alone. Keys of the document may be added, none renamed.

#include <string>
#include <vector>

#include "cli/frame/json_output.h"
#include "cli/page/style.h"
#include "cli/scale/scale_runs.h"

namespace muster::cli {

// Of at least two points; with bars where a terminal has room for them.
std::string ScalePage(const ScalingRequest& request, const std::string& command,
                      const std::vector<ScalePoint>& points, const Style& style);

// Of at least two points.
Json ScalingDocument(const ScalingRequest& request, const std::vector<std::string>& command,
                     const std::vector<ScalePoint>& points);

}  // namespace muster::cli

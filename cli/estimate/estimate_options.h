#pragma once

// The options of muster estimate, as they stand in its help. Constants.

#include <vector>

#include "cli/frame/verb.h"

namespace muster::cli {

std::vector<Option> EstimateOptions();

}  // namespace muster::cli

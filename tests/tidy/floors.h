#pragma once

// The floor plan: which folder may include which, and which third-party headers it may see.
//
// The plan is one table in floors.cc; target_link_libraries says the same to the linker, and this
// says it to the preprocessor, which would otherwise find any header from the root. Thread promise:
// a pure function of its arguments.

#include <vector>

#include "tests/tidy/source.h"

namespace muster::tidy {

// Includes in `source` that go up or sideways, or reach a library that its floor does not have.
std::vector<Finding> CheckIncludes(const Source& source);

}  // namespace muster::tidy

#pragma once

// The floor plan: which folder may include which, which third-party headers it may see, and which
// namespace its files open.
//
// The plan is two tables in floors.cc; target_link_libraries says the same to the linker, and this
// says it to the preprocessor, which would otherwise find any header from the root.

#include <vector>

#include "tests/tidy/source.h"

namespace muster::tidy {

// Includes in `source` that go up or sideways, or reach a library that its floor does not have.
std::vector<Finding> CheckIncludes(const Source& source);

// Namespaces that `source` opens and that are another wing's: each wing has its own (or several
// below it), and what stands in none is shared, in `muster`. A block that only declares is fine.
std::vector<Finding> CheckNamespaces(const Source& source);

}  // namespace muster::tidy

#pragma once

// What is of use: headers that some program reaches, and headers that some test includes.
//
// Invariant: what a list excuses still needs that, so that lists only shrink.

#include <set>
#include <string>
#include <vector>

#include "tests/tidy/source.h"

namespace muster::tidy {

// Product headers that no main of the product reaches. A program has the sources that its headers
// name, and those of the same folder that have no header of their name; the header of the verbs
// has all cmd_VERB.cc. `besides`: headers that others begin with, a program under tests/, a user's,
// the linker.
std::vector<Finding> CheckDeadHeaders(const std::vector<Source>& tree,
                                      const std::set<std::string>& besides);

// Product headers that no file under tests/ includes. `known`: those that are so, one a line.
std::vector<Finding> CheckUntestedHeaders(const std::vector<Source>& tree, const Source& known);

}  // namespace muster::tidy

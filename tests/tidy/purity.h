#pragma once

// The pure floors stay pure: scheduler/base, model and core know no clock, thread, file, socket or
// chance.
//
// The same bytes in must give the same bytes out on every machine, or a replay of the journal
// decides otherwise than the controller did. So nothing there asks the machine anything, and
// nothing iterates a container whose order is the allocator's (a lookup is fine).

#include <set>
#include <string>
#include <vector>

#include "tests/tidy/source.h"

namespace muster::tidy {

// True for code in scheduler/{base,model,core}.
bool IsPure(const Source& source);

// Includes of, and calls to, what a pure floor must not know.
std::vector<Finding> CheckPurity(const Source& source);

// The variables, members and accessors that `source` declares as unordered containers, aliases
// included.
std::set<std::string> UnorderedNames(const Source& source);

// Loops over, and begin() of, any of `names`.
std::vector<Finding> CheckUnorderedIteration(const Source& source,
                                             const std::set<std::string>& names);

}  // namespace muster::tidy

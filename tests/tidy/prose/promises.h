#pragma once

// Thread promises of headers: what is said only where it says something.
//
// A header without one is safe from any thread: its functions are pure, what it defines is plain
// values or constants, or it locks for itself. One that names a thread, an owner, a lock or what
// may wait stays.

#include <vector>

#include "tests/tidy/source.h"

namespace muster::tidy {

// Opening comments of headers whose thread promise says no more than that.
std::vector<Finding> CheckThreadPromises(const Source& source);

}  // namespace muster::tidy

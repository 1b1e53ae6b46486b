#pragma once

// Where ranks would go on machines of any make: requests drawn, normalised and placed on nodes of
// which something is taken.
//
// Thread promise: pure but for the sequence. Invariant: the same sequence asks the same questions.

#include <optional>
#include <string>

#include "scheduler/simulator/random_sequence.h"

namespace muster::sim {

// What is wrong with a place: ranks that are not numbered 0 to n-1, hold what is taken, or hold
// what their node's part has not; or with what is said of it.
std::optional<std::string> WrongPlace(RandomSequence& random);

}  // namespace muster::sim

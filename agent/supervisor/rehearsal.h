#pragma once

// Does once, on nothing, what every supervisor does first: so that a copy finds it done.
//
// Thread promise: main's. Invariant: nothing outside this process changes.

#include "absl/status/status.h"

namespace muster::agent {

// The tables of all that orders and reports consist of are made. An error: the model and the wire
// do not fit, and a supervisor would find that out itself.
absl::Status Rehearse();

}  // namespace muster::agent

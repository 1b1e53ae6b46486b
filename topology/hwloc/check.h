#pragma once

// The invariants of scheduler/model/machine/machine.h as a program: every reader ends with it.
//
// Thread promise: pure function.

#include "absl/status/status.h"
#include "scheduler/model/machine/machine.h"

namespace muster {

// OK, or Internal naming the source and the first thing that is wrong: no cores; cores out of
// order, empty or overlapping; a position that points nowhere; a NUMA node's or cache's threads
// that are not those of its cores; two NUMA nodes or GPUs of one name; less memory in all than on
// the nodes; a link between devices that are not there, or a pair with two.
absl::Status CheckMachine(const Machine& machine);

}  // namespace muster

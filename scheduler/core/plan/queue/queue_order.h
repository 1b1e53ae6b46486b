#pragma once

// The order in which waiting jobs are looked at: priority, then first come first served.
//
// Thread promise: pure. Invariants: a strict total order: ties fall to the lower id.

#include "scheduler/model/plan/snapshot.h"

namespace muster {

// True when `a` goes before `b`: the lower nice value, then the lower id.
bool GoesBefore(const WaitingJob& a, const WaitingJob& b);

}  // namespace muster

#pragma once

// The reasons that policy gives: their names, Slurm's, and their sentences with the numbers.
//
// Part of model/reason, in a file of its own. Thread promise: pure. Invariants: every kind from 40
// to 79 has a name; a limit's sentence says whose it is, what is used of it, and what is needed.

#include <string>

#include "scheduler/model/plan/reason.h"

namespace muster {

// "QOSMaxCpuPerUserLimit"; "None" for a kind that is not policy's.
const char* PolicyReasonName(ReasonKind kind);
std::string PolicyReasonSentence(const Reason& reason);

}  // namespace muster

#pragma once

// The order in which waiting jobs are looked at: priority, then first come first served.
//
// Thread promise: pure. Invariants: a strict total order: ties fall to the lower id.

#include <cstdint>

#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

// Where priorities without weights lie, so that a positive nice can lower them (Slurm's
// NICE_OFFSET).
inline constexpr std::int64_t kBasePriority = std::int64_t{1} << 31;

// The fixed priority, or what nice leaves of the base.
std::int64_t PlainPriority(const JobSpec& spec);

// True when `a` goes before `b`: the higher fixed priority or the lower nice value, then the lower
// id.
bool GoesBefore(const WaitingJob& a, const WaitingJob& b);

}  // namespace muster::core

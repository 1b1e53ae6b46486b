#pragma once

// The waiting jobs of a snapshot: their order, priority and then first come, first served, and the
// elements of an array for which one entry may stand.
//
// Invariants: (1) the order is strict and total: ties fall to the lower id; (2) the elements of an
// entry have ids in a row; (3) an element by itself plans as it would within its entry.

#include <cstdint>
#include <optional>

#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/value/ids.h"

namespace muster::core {

// Where priorities without weights lie, so that a positive nice can lower them (Slurm's
// NICE_OFFSET).
inline constexpr std::int64_t kBasePriority = std::int64_t{1} << 31;

// The fixed priority, or what nice leaves of the base.
std::int64_t PlainPriority(const JobSpec& spec);

// True when `a` goes before `b`: the higher fixed priority or the lower nice value, then the lower
// id.
bool GoesBefore(const WaitingJob& a, const WaitingJob& b);

// Element `offset` of the entry, or a part of `count` of them from there on. REQUIRES: they are in
// it.
WaitingJob ElementsOf(const WaitingJob& entry, std::uint32_t offset, std::uint32_t count = 1);

// The job by itself; nothing when it does not wait.
std::optional<WaitingJob> FindWaiting(const Snapshot& snapshot, JobId job);

}  // namespace muster::core

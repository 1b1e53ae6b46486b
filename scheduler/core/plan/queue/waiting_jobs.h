#pragma once

// The waiting jobs of a snapshot, of which one entry may stand for many elements of an array.
//
// Thread promise: pure. Invariants: (1) the elements of an entry have ids in a row; (2) an element
// by itself plans as it would within its entry.

#include <cstdint>
#include <optional>

#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/value/ids.h"

namespace muster::core {

// Element `offset` of the entry, or a part of `count` of them from there on. REQUIRES: they are in
// it.
WaitingJob ElementsOf(const WaitingJob& entry, std::uint32_t offset, std::uint32_t count = 1);

// The job by itself; nothing when it does not wait.
std::optional<WaitingJob> FindWaiting(const Snapshot& snapshot, JobId job);

}  // namespace muster::core

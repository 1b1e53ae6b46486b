#pragma once

// Inner ranks: those that a launcher inside a job starts (an `mpirun` in its script) and not we.
//
// They are reported and shown as ranks of one of two steps that no order ever names. Invariant: ids
// of real steps grow from 1 and never come near.

#include <limits>

#include "scheduler/model/value/ids.h"

namespace muster {

// It has the place of a planned rank, whose number is its own here.
inline constexpr StepId kPlacedInnerStep{std::numeric_limits<std::uint32_t>::max()};
// It may run on all that the job has on the node; its number is its launcher's.
inline constexpr StepId kFreeInnerStep{std::numeric_limits<std::uint32_t>::max() - 1};

constexpr bool IsInner(StepId step) {
  return step == kPlacedInnerStep || step == kFreeInnerStep;
}

}  // namespace muster

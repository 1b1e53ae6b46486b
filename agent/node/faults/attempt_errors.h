#pragma once

// Which ranks of an attempt met errors of GPUs: by the journal of the attempt, in words.
//
// Pure but for the journal. Invariants: a rank is named for GPUs that it was seen to have, and for
// errors that may have come while it ran; at most kTextsMost are told.

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "agent/node/faults/gpu_judge.h"

namespace muster::agent {

inline constexpr std::size_t kTextsMost = 16;

// "rank 3 on n2 met XID 79 (GPU has fallen off the bus) on GPU GPU-…", the first that came first.
// Of the job's script only where no rank had that GPU then.
std::vector<std::string> ErrorsMet(const std::string& journal, const std::string& node,
                                   const std::deque<GpuError>& errors);

}  // namespace muster::agent

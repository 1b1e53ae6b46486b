#pragma once

// The priority functions of the field, as scores: the job with the smallest goes first.
//
// With r the estimate in seconds, n the processors, s the submission in seconds (at least 1), w the
// wait in seconds:
//   sjf     r
//   wfp3    -(w/r)^3 n                 W. Tang et al., CLUSTER 2009 ("Fault-aware, utility-based
//   unicep  -w / (log2(n) r)           job scheduling on Blue Gene/P systems"), as given in D.
//                                      Carastan-Santos, R. Y. de Camargo, SC'17, table 2
//   f1      log10(r) n + 870 log10(s)          the same, table 3
//   f2      sqrt(r) n + 25600 log10(s)
//   f3      r n + 6860000 log10(s)
//   f4      r sqrt(n) + 530000 log10(s)
// unicep divides by log2(1) = 0 for one processor: such a job has minus infinity once it waits.
//
// Same bits everywhere: only +, -, *, / and the square root are used, which IEEE 754 rounds
// correctly, without contraction (-ffp-contract=off), and logarithms come from integers, not from
// the machine's library. f1 to f4 are rounded to multiples of 2^-20, and unicep to 40 bits, so that
// scores that are equal on paper are equal here, whatever path they took; equal scores go by
// arrival.

#include <cstdint>

#include "scheduler/simulator/flat/flat_policy.h"
#include "scheduler/simulator/flat/timeline.h"

namespace muster::sim {

// log2(value) in multiples of 2^-52, to within one of them. REQUIRES: value > 0.
std::int64_t Log2Fixed(std::uint64_t value);

// True when the score changes while a job waits.
[[nodiscard]] bool ScoreMoves(FlatOrder order);

// The score of a job at `now`; 0 for kArrival, for kFairshare, whose score is the user's, and for
// kPrompt, whose queue has keys of its own.
// REQUIRES: estimate > 0, processors > 0.
double QueueScore(FlatOrder order, std::int64_t processors, Tick submit, Tick estimate, Tick now);

}  // namespace muster::sim

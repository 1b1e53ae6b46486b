#pragma once

// The order of the queue that is called prompt: what a job's key is, and when its patience ends.
//
// The key is submission + stretch x estimate, the smallest first: short jobs pass longer ones, but
// each job only those submitted before its own key, so none is passed for ever. (With stretch 0 it
// is first come, first served; without bound it is shortest job first. The key is the moment at
// which the job's slowdown would reach stretch + 1.) A job that has waited for its patience, which
// grows with the backlog, goes before all others, first come first, and its promise is made tight.
// The slack between what first come, first served would give and the promise is Talby and
// Feitelson's (IPPS 1999). Integers only: the same bits everywhere. Times and spans are in one unit
// of the caller's. Invariants: nothing overflows for spans up to 2^52.

#include <algorithm>
#include <cstdint>
#include <limits>

namespace muster::core {

struct PromptRules {
  std::int64_t stretch_permille = 10'000;  // of the estimate, in the key
  std::int64_t patience = 57'600;          // of every job, in the unit of times
  std::int64_t backlog_permille = 500;     // of the time to work off the backlog, beside it
  std::int64_t slack = 43'200;             // between what FCFS gives and the promise
};

// A long time that is not for ever; sums of a few of them do not overflow.
inline constexpr std::int64_t kLongSpan = std::int64_t{1} << 52;

constexpr std::int64_t ShareOfSpan(std::int64_t span, std::int64_t permille) {
  const std::int64_t whole = std::clamp<std::int64_t>(span, 0, kLongSpan);
  return std::min(kLongSpan, whole / 1000 * permille + whole % 1000 * permille / 1000);
}

// The smallest goes first; ties go by submission, then by number.
constexpr std::int64_t PromptKey(const PromptRules& rules, std::int64_t submit,
                                 std::int64_t estimate) {
  return std::clamp(submit, -kLongSpan, kLongSpan) + ShareOfSpan(estimate, rules.stretch_permille);
}

// What the estimate counts for in the key of a user who has `fairshare` of kWholeFairshare: as it
// is for the best, and up to sixteen times as much the more of his share he has used.
inline constexpr std::int64_t kWholeFairshare = 1'000'000'000;
constexpr std::int64_t WeighedEstimate(std::int64_t estimate, std::int64_t fairshare) {
  const std::int64_t least = kWholeFairshare / 16;
  return ShareOfSpan(estimate,
                     kWholeFairshare * 1000 / std::clamp(fairshare, least, kWholeFairshare));
}

// How long a job waits before it goes first, when `backlog` is what the waiting and running jobs
// have to do yet, as time of the whole machine.
constexpr std::int64_t PatienceAt(const PromptRules& rules, std::int64_t backlog) {
  return rules.patience + ShareOfSpan(backlog, rules.backlog_permille);
}

// The latest start of a job that first come, first served would start at `fcfs`.
constexpr std::int64_t PromiseOf(const PromptRules& rules, std::int64_t fcfs) {
  return fcfs > kLongSpan ? fcfs : fcfs + rules.slack;
}

}  // namespace muster::core

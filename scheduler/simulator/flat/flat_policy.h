#pragma once

// How jobs are chosen for a machine of identical processors: the field's baseline policies.
//
// A policy is an order of the queue, what may pass a blocked head, and in which order candidates
// for that are looked at.

#include <cstdint>

#include "scheduler/core/prompt/prompt_order.h"
#include "scheduler/model/settings/backfill.h"

namespace muster::sim {

// In which order the queue stands. All but the first are smallest score first, ties to the earlier
// arrival; the formulas are in flat/queue_score.h.
enum class FlatOrder : std::uint8_t {
  kArrival = 0,  // first come, first served
  kSjf = 1,      // shortest estimate first
  kWfp3 = 2,
  kUnicep = 3,
  kF1 = 4,
  kF2 = 5,
  kF3 = 6,
  kF4 = 7,
  kFairshare = 8,  // the user with the least decayed usage first (flat/flat_usage.h)
  kPrompt = 9,     // by key, with a promise to each (flat/prompt_queue.h)
};

enum class CandidateOrder : std::uint8_t {
  kQueue = 0,
  kShortestFirst = 1,  // by estimate, ties to the earlier arrival (Tsafrir et al., TPDS 2007)
};

struct FlatPolicy {
  FlatOrder order = FlatOrder::kArrival;
  Backfill backfill = Backfill::kEasy;  // kConservative only with kArrival; never kHybrid
  CandidateOrder candidates = CandidateOrder::kQueue;
  // Estimates may be shorter than jobs run, and are then corrected
  // (core/prompt/run_time_prediction.h).
  bool estimates_fall_short = false;
  core::PromptRules prompt = {};  // of kPrompt; in seconds
};

}  // namespace muster::sim

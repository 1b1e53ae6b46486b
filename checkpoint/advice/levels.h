#pragma once

// Checkpoints of several levels: how often each, and what they cost together.
//
// A level (memory of the node, a partner's, the shared file system) is cheap and survives little,
// or dear and survives more. To first order each has its own interval, from its own cost and the
// rate of the failures that need it. A. Benoit, A. Cavelan, V. Le Fèvre, Y. Robert, H. Sun, Towards
// optimal multi-level checkpointing, IEEE TC 66(7), 2017. Invariants: every value that comes back
// is finite and not negative, or the error says why not.

#include <cstdint>
#include <vector>

#include "checkpoint/advice/interval.h"

namespace muster::checkpoint {

struct Level {
  double cost_s = 0;  // C: a checkpoint of this level
  double mtbf_s = 0;  // 1/lambda: mean time between the failures that need this level, no lower one
};

struct LevelPlan {
  double interval_s = 0;  // of work, between two checkpoints of this level
  double overhead = 0;    // the share of time lost on it: C/t + t/(2 mtbf)
};

struct LevelsPlan {
  std::vector<LevelPlan> levels;  // as asked
  double overhead = 0;            // of all together
  IntervalError error = IntervalError::kNone;
};

// Each level by itself: interval sqrt(2 C / lambda), overhead sqrt(2 lambda C).
LevelsPlan PlanLevels(const std::vector<Level>& levels);

// As PlanLevels, with each interval a whole multiple of the one below it, so that a checkpoint of a
// level is one of the levels below, too: the nearest to the ratio of the free intervals, at least
// 1. Overheads are computed again. REQUIRES: levels from the cheapest up.
LevelsPlan PlanNestedLevels(const std::vector<Level>& levels);

// How many checkpoints of a level there are for one of the next: the nearest to the ratio of their
// free intervals, at least 1. REQUIRES: both are more than 0.
std::uint64_t NestedMultiple(double above_s, double below_s);

}  // namespace muster::checkpoint

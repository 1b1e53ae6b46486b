#pragma once

// The search for the block sizes of the matrix product that are fastest here, under a budget.
//
// From the sizes that fit the caches by rule it goes, one of the three at a time, to neighbours
// that are faster, until none is or the budget is spent; then the best and the first run in turn,
// and the best stays only if it is still faster. What computes a wrong result is out, whatever its
// speed. Thread promise: pure but for what `run` does.

#include <functional>
#include <optional>

#include "agent/kernels/cpu/matrix_product.h"

namespace muster::kernels {

struct BlockingSearch {
  Blocking best;
  double seconds = 0;        // of the best, in the last turns
  double first_seconds = 0;  // of the one by rule
  int tried = 0;
  int rejected = 0;  // wrong results
  double spent = 0;  // seconds
};

// `run` computes once with these sizes: its seconds, or nothing when the result was wrong. The
// budget is in the seconds that `run` tells.
BlockingSearch SearchBlocking(const Blocking& first, double budget,
                              const std::function<std::optional<double>(const Blocking&)>& run);

}  // namespace muster::kernels

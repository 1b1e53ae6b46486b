#pragma once

// The search for the fastest of a few choices that are all there when a program is compiled, under
// a budget.
//
// The first is the one by rule. Each other is tried once, in order, until the budget is spent; then
// the best and the first run in turn, and the best stays only if it is still faster by 2 %. What
// computes a wrong result is out, whatever its speed. Thread promise: pure but for what `run` does
// and the monotonic clock.

#include <cstddef>
#include <functional>
#include <optional>

namespace muster::kernels {

struct ChoiceSearch {
  size_t best = 0;
  double seconds = 0;        // of the best, in the last turns
  double first_seconds = 0;  // of the one by rule
  int tried = 0;
  int rejected = 0;  // wrong results
};

// `run` computes once by a choice: its seconds, or nothing when the result was wrong. `budget` in
// seconds of the clock. REQUIRES: `first` < `count`.
ChoiceSearch SearchChoices(size_t first, size_t count, double budget,
                           const std::function<std::optional<double>(size_t)>& run);

}  // namespace muster::kernels

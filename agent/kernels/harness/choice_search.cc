#include "agent/kernels/harness/choice_search.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "agent/kernels/harness/bench.h"

namespace muster::kernels {
namespace {

constexpr double kWrong = std::numeric_limits<double>::infinity();
constexpr int kLastTurns = 5;
constexpr double kWorthwhile = 0.98;  // of the first's time; noise finds the rest

}  // namespace

ChoiceSearch SearchChoices(size_t first, size_t count, double budget,
                           const std::function<std::optional<double>(size_t)>& run) {
  const double begin = MonotonicSeconds();
  ChoiceSearch result;
  result.best = first;
  double best = kWrong;
  for (size_t i = 0; i < count; ++i) {
    const size_t choice = (first + i) % count;
    if (i > 0 && MonotonicSeconds() - begin >= budget) {
      break;
    }
    ++result.tried;
    const std::optional<double> seconds = run(choice);
    result.rejected += seconds.has_value() ? 0 : 1;
    if (seconds.value_or(kWrong) < best) {
      best = *seconds;
      result.best = choice;
    }
  }
  std::vector<double> of_first;
  std::vector<double> of_best;
  for (int turn = 0; turn < kLastTurns; ++turn) {
    of_first.push_back(run(first).value_or(kWrong));
    of_best.push_back(run(result.best).value_or(kWrong));
  }
  std::sort(of_first.begin(), of_first.end());
  std::sort(of_best.begin(), of_best.end());
  result.first_seconds = of_first[kLastTurns / 2];
  result.seconds = of_best[kLastTurns / 2];
  if (!(result.seconds < kWorthwhile * result.first_seconds)) {
    result.best = first;
    result.seconds = result.first_seconds;
  }
  return result;
}

}  // namespace muster::kernels

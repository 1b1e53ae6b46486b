#pragma once

// How long a job will run, guessed from what its user's last jobs did.
//
// Source: D. Tsafrir, Y. Etsion, D. G. Feitelson, "Backfilling Using System-Generated Predictions
// Rather than User Runtime Estimates", IEEE TPDS 18(6), 2007: the mean of the user's two jobs that
// ended last (section 3), and growing corrections when a job outlives its prediction (section 4).
// Thread promise: a value; one thread at a time. Invariants: 0 < prediction <= requested.

#include <cstdint>
#include <unordered_map>

namespace muster::core {

class LastTwoPrediction {
 public:
  // A job of `user` ended after `run_time` seconds. Jobs that end together are reported in the
  // order in which they started.
  void Observe(std::int64_t user, std::int64_t run_time);

  // The mean of the last two, rounded down and at least 1, and at most `requested`; `requested`
  // where the user has fewer than two. Seconds.
  [[nodiscard]] std::int64_t Predict(std::int64_t user, std::int64_t requested) const;

 private:
  struct Pair {
    std::int64_t last = 0;
    std::int64_t before = 0;  // 0: none
  };
  std::unordered_map<std::int64_t, Pair> users_;  // looked up, never iterated
};

// What a job that has outlived `prediction` seconds is given next: 1 min more, then 5, 15 and 30
// min, 1, 2, 5, 10, 20, 50 and 100 h for each further time (`corrections` so far), and `limit` at
// the most.
std::int64_t CorrectedPrediction(std::int64_t prediction, std::uint32_t corrections,
                                 std::int64_t limit);

}  // namespace muster::core

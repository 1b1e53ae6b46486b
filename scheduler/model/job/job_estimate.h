#pragma once

// How long a job is thought to run, as it was guessed when it was submitted.
//
// core/prompt/run_time_estimates makes it; the journal keeps it, so that a replay needs no history.
// Orders of the queue reckon with it; promises and limits never do. Invariants: `used` is the
// guess, or the limit where guesses have been worse; zero: none was made.

#include <cstdint>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/time.h"

namespace muster {

enum class EstimateSource : std::uint8_t {
  kLimit = 0,      // too little is known of the user
  kAlike = 1,      // runs of the user's jobs of that name, limit and size
  kSameLimit = 2,  // of that limit
  kUser = 3,       // the user's use of his limits
  kSameName = 4,   // runs of his jobs of that name and limit
};

struct JobEstimate {
  Duration used{0};
  Duration guess{0};                               // what the user's jobs did, used or not
  EstimateSource source = EstimateSource::kLimit;  // of the guess
  // By how much the user's guesses were closer than his limits lately, in thousandths of doublings.
  std::int64_t trust = 0;
  static constexpr auto Fields(auto list) {
    return list(Field{"used", &JobEstimate::used}, Field{"guess", &JobEstimate::guess},
                Field{"source", &JobEstimate::source}, Field{"trust", &JobEstimate::trust});
  }
  friend bool operator==(const JobEstimate&, const JobEstimate&) = default;
};

}  // namespace muster

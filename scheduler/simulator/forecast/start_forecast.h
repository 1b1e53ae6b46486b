#pragma once

// When the jobs that wait now will start: quantiles over many futures that could come.
//
// A future gives each job, running or waiting, a run time: its limit times the share of theirs that
// one of the ended jobs used, of its user's jobs of such a limit where there are enough (of those
// that ran long enough, where it runs already). Waiting jobs of one user and one limit get the
// same: they come in series. Then the policy's own queue replans, with limits as estimates, until
// all have started. Jobs that come later are not foreseen, so where these may overtake, promises
// hold less often than they say; forecast_calibration.h measures it. Thread promise: pure; LimitUse
// is a value. Invariants: the same state and options give the same bits; p50 <= p90; no run time is
// beyond its limit.

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "scheduler/simulator/flat/flat_policy.h"
#include "scheduler/simulator/flat/timeline.h"
#include "scheduler/simulator/random_sequence.h"

namespace muster::sim {

// Which share of their limits jobs used, user by user.
class LimitUse {
 public:
  static constexpr std::size_t kRemembered = 100;  // of a user, the newest
  static constexpr std::size_t kRememberedOfAll = 1000;
  static constexpr std::size_t kLeast = 5;  // fewer say nothing

  // REQUIRES: 0 < run_time, 0 < limit.
  void Add(std::int64_t user, Tick run_time, Tick limit);
  // A run time in (elapsed, limit]: by what is drawn from the user's jobs of a limit like this one
  // (half to twice), or else of all users' such jobs, of all the user's jobs, of all jobs: the
  // first of these that are enough. REQUIRES: 0 <= elapsed < limit.
  Tick Draw(std::int64_t user, Tick elapsed, Tick limit, RandomSequence* random) const;

 private:
  struct Job {
    double share = 1;
    Tick limit = 0;
  };
  struct Past {
    std::vector<Job> jobs;
    std::size_t oldest = 0;
    void Add(const Job& job, std::size_t most);
  };
  // What some jobs' use of their limits says of a job that has run so far.
  struct Sample {
    std::size_t jobs = 0;
    std::vector<Tick> longer;  // the run times after that
  };
  static Sample SampleOf(const Past& past, bool is_alike, Tick elapsed, Tick limit);

  std::map<std::int64_t, Past> users_;
  Past all_;
};

struct ForecastJob {
  std::int64_t processors = 0;
  Tick submit = 0;
  Tick start = 0;  // of running ones
  Tick limit = 0;
  std::int64_t user = -1;
};

struct ForecastState {
  std::int64_t processors = 0;
  Tick now = 0;
  std::vector<ForecastJob> running;  // in order of start, the limits of all beyond `now`
  std::vector<ForecastJob> waiting;  // in order of arrival
};

struct ForecastOptions {
  std::uint32_t futures = 100;  // at least 1
  std::uint64_t seed = 1;
};

// The smallest start that at least this share of the futures does not exceed.
struct StartQuantiles {
  Tick p50 = 0;
  Tick p90 = 0;
  Tick if_limits = 0;  // if every job takes all of its limit
};

// One for each waiting job. REQUIRES: the running jobs fit together, and each waiting one alone.
std::vector<StartQuantiles> ForecastStarts(const ForecastState& state, const FlatPolicy& policy,
                                           const LimitUse& use, const ForecastOptions& options);

}  // namespace muster::sim

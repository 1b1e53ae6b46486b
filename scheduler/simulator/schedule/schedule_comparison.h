#pragma once

// Two schedules of the same jobs: who waits longer, who shorter, and how sure that is.
//
// Pairs jobs by id. Confidence comes from a block bootstrap: waits of jobs near in time depend on
// one another, so time is cut into blocks that are drawn with replacement as wholes (Künsch, "The
// jackknife and the bootstrap for general stationary observations", Annals of Statistics 17(3),
// 1989; non-overlapping blocks after Carlstein, Annals of Statistics 14(3), 1986), and the interval
// is that of the percentiles (Efron, 1979). Invariants: the same outcomes and options give the same
// bits.

#include <cstdint>
#include <vector>

#include "scheduler/simulator/schedule/schedule_row.h"

namespace muster::sim {

// What became of one job.
struct JobOutcome {
  std::int64_t id = 0;
  std::int64_t submit = 0;  // s
  std::int64_t user = -1;
  std::int64_t account = -1;  // the group of traces that have groups
  std::int64_t wait = 0;      // s
  double slowdown = 1;        // bounded
};

JobOutcome OutcomeOf(const ScheduleRow& row);

struct BootstrapOptions {
  std::uint64_t seed = 1;
  std::uint32_t resamples = 2000;
  std::int64_t block = 0;  // s; 0: a week, or a day, or a twentieth, whichever gives 10 blocks
  double confidence = 0.95;
};

// A mean difference, variant - base, and the interval that holds it.
struct Difference {
  double mean = 0;
  double low = 0;
  double high = 0;
  bool known = false;  // the interval; with jobs in fewer than five blocks it would be a pretence
  // Only these are a gain or a loss: the interval leaves 0 out.
  [[nodiscard]] bool is_less() const { return known && high < 0; }
  [[nodiscard]] bool is_more() const { return known && low > 0; }
};

// What changes for the jobs of one user, of one account, or for all.
struct OwnerDifference {
  std::int64_t owner = -1;  // the number of the user or account
  std::uint64_t jobs = 0;
  double base_wait = 0;  // s, the mean; so is the other
  double variant_wait = 0;
  Difference wait;      // s
  Difference slowdown;  // bounded
};

struct Comparison {
  std::uint64_t jobs = 0;      // of both schedules
  std::uint64_t only_one = 0;  // jobs that only one of them has
  std::int64_t block = 0;      // s
  std::uint64_t blocks = 0;    // with jobs in them
  OwnerDifference overall;
  std::vector<OwnerDifference> accounts;  // in order of number; so are the users
  std::vector<OwnerDifference> users;
};

// REQUIRES: no id twice in either.
Comparison Compare(std::vector<JobOutcome> base, std::vector<JobOutcome> variant,
                   const BootstrapOptions& options);

}  // namespace muster::sim

#pragma once

// One simulation of a workload under one choice of settings, and what it measures.
//
// Jobs count by when they were submitted: before the workload's split, where settings are chosen,
// or after it, where they are judged. Thread promise: pure; simulations share only the file.
// Invariants: the same workload and settings give the same numbers.

#include <atomic>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/tune/tune_settings.h"
#include "cli/tune/tune_workload.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/simulator/schedule/schedule_comparison.h"

namespace muster::cli {

struct TuneMeasures {
  std::uint64_t jobs = 0;
  double slowdown = 0;   // bounded, the mean
  double wait = 0;       // s, the mean
  std::int64_t p99 = 0;  // s, of waits
  std::int64_t longest = 0;
  double utilisation = 0;  // of the processors, while these jobs were submitted
  double by_user = 0;      // the mean over users of each user's mean bounded slowdown
  static constexpr auto Fields(auto list) {
    return list(Field{"jobs", &TuneMeasures::jobs},
                Field{"mean_bounded_slowdown", &TuneMeasures::slowdown},
                Field{"mean_waiting_time", &TuneMeasures::wait},
                Field{"p99_waiting_time", &TuneMeasures::p99},
                Field{"max_waiting_time", &TuneMeasures::longest},
                Field{"utilisation", &TuneMeasures::utilisation},
                Field{"mean_user_bounded_slowdown", &TuneMeasures::by_user});
  }
};

struct TuneTrial {
  TuneMeasures train;
  TuneMeasures test;
  TuneMeasures all;
  static constexpr auto Fields(auto list) {
    return list(Field{"train", &TuneTrial::train}, Field{"test", &TuneTrial::test},
                Field{"all", &TuneTrial::all});
  }
};

// `outcomes`, unless null, gets those of the jobs after the split. Cancelled when `stop` becomes
// true.
absl::StatusOr<TuneTrial> RunTrial(const TuneWorkload& workload, const TuneSettings& settings,
                                   const std::atomic<bool>& stop,
                                   std::vector<sim::JobOutcome>* outcomes);

}  // namespace muster::cli

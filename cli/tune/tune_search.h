#pragma once

// The search: settings are tried by simulation, one parameter after the other, several at a time.
//
// It begins with the policies that a scheduler can be set to, and goes from the best choice of the
// order called prompt to the best of its neighbours in each parameter, until a round brings
// nothing. A choice whose longest wait, in training, is more than `longest_factor` times that of
// EASY is none. Thread promise: Search runs its own threads and returns when they are done.
// Invariants: the same workload and options give the same choice, however many threads.

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/tune/tune_results.h"
#include "cli/tune/tune_settings.h"
#include "cli/tune/tune_trial.h"
#include "cli/tune/tune_workload.h"

namespace muster::cli {

enum class TuneGoal : std::uint8_t {
  kSlowdown = 0,
  kWait = 1,
  kUtilisation = 2,
  kFairness = 3,  // every user counts the same
};

// slowdown, wait, utilisation, fairness.
absl::StatusOr<TuneGoal> ParseTuneGoal(const std::string& name);
const char* Name(TuneGoal goal);

// The smaller, the better.
double CostOf(TuneGoal goal, const TuneMeasures& measures);

struct TuneOptions {
  TuneGoal goal = TuneGoal::kSlowdown;
  double longest_factor = 1.25;
  std::uint32_t rounds = 3;
  std::uint32_t threads = 1;
};

struct TuneTried {
  TuneSettings settings;
  TuneTrial trial;
  bool allowed = true;  // by its longest wait
};

struct TuneFound {
  TuneTried current;
  TuneTried best;
  std::vector<TuneTried> policies;  // as they are by default
  std::size_t trials = 0;
};

// Runs all of them, several at a time, but for those that `results` has; in their order.
// `tell` hears on the caller's thread how many are done.
absl::StatusOr<std::vector<TuneTrial>> RunTrials(const TuneWorkload& workload,
                                                 const std::vector<TuneSettings>& settings,
                                                 std::uint32_t threads, std::atomic<bool>& stop,
                                                 TuneResults& results,
                                                 const std::function<void(std::size_t)>& tell);

// `tell` hears which share of the search is done, at least, and how many trials.
absl::StatusOr<TuneFound> Search(const TuneWorkload& workload, const TuneSettings& current,
                                 const TuneOptions& options, std::atomic<bool>& stop,
                                 TuneResults& results,
                                 const std::function<void(double, std::size_t)>& tell);

}  // namespace muster::cli

#pragma once

// How start estimates made at submission would have held over a whole schedule.
//
// For jobs that had to wait, evenly chosen, the state at their submission is taken from the
// schedule: which jobs ran, waited or had ended. A forecast that is calibrated has P50 held by half
// of the jobs and P90 by nine of ten (Gneiting, Balabdaoui, Raftery, "Probabilistic forecasts,
// calibration and sharpness", JRSS B 69(2), 2007).

#include <cstdint>
#include <vector>

#include "scheduler/simulator/forecast/start_forecast.h"

namespace muster::sim {

// A job of a schedule that is over.
struct PastJob {
  std::int64_t id = 0;
  Tick submit = 0;
  Tick start = 0;
  Tick end = 0;
  std::int64_t processors = 0;
  Tick limit = 0;
  std::int64_t user = -1;
};

// Of one way to promise a start.
struct PromiseRecord {
  std::uint64_t held = 0;    // jobs that started no later
  double error = 0;          // s, the mean distance between promise and start
  double promised_wait = 0;  // s, the mean from submission to the promise
};

struct Calibration {
  std::uint64_t waited = 0;    // jobs that had to wait
  std::uint64_t forecast = 0;  // of these, that were looked at
  PromiseRecord p50;
  PromiseRecord p90;
  PromiseRecord if_limits;  // what a plan by limits alone promises
};

// At most `most` jobs. REQUIRES: the jobs are those of one schedule on `processors`, by `policy`.
Calibration CalibrateForecasts(std::vector<PastJob> jobs, std::int64_t processors,
                               const FlatPolicy& policy, std::size_t most,
                               const ForecastOptions& options);

}  // namespace muster::sim

#include "scheduler/simulator/forecast/forecast_calibration.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace muster::sim {
namespace {

// The state when `job` had just come, as those knew it who were there. `jobs` are in order of
// (submit, id). Where `job` stands among those that wait: the last.
ForecastState StateAt(const std::vector<PastJob>& jobs, const PastJob& job,
                      std::int64_t processors) {
  ForecastState state{.processors = processors, .now = job.submit, .running = {}, .waiting = {}};
  for (const PastJob& other : jobs) {
    if (std::tie(other.submit, other.id) > std::tie(job.submit, job.id)) {
      break;
    }
    const ForecastJob known{.processors = other.processors,
                            .submit = other.submit,
                            .start = other.start,
                            .limit = other.limit,
                            .user = other.user};
    if (other.start >= state.now) {
      state.waiting.push_back(known);
    } else if (other.end > state.now) {
      state.running.push_back(known);
    }
  }
  std::stable_sort(state.running.begin(), state.running.end(),
                   [](const ForecastJob& a, const ForecastJob& b) { return a.start < b.start; });
  return state;
}

void Record(Tick promised, const PastJob& job, PromiseRecord* record) {
  record->held += job.start <= promised ? 1 : 0;
  record->error += static_cast<double>(std::abs(job.start - promised));
  record->promised_wait += static_cast<double>(promised - job.submit);
}

}  // namespace

Calibration CalibrateForecasts(std::vector<PastJob> jobs, std::int64_t processors,
                               const FlatPolicy& policy, std::size_t most,
                               const ForecastOptions& options) {
  std::vector<PastJob> by_end = jobs;
  std::stable_sort(by_end.begin(), by_end.end(),
                   [](const PastJob& a, const PastJob& b) { return a.end < b.end; });
  std::sort(jobs.begin(), jobs.end(), [](const PastJob& a, const PastJob& b) {
    return std::tie(a.submit, a.id) < std::tie(b.submit, b.id);
  });
  std::vector<const PastJob*> waited;
  for (const PastJob& job : jobs) {
    if (job.start > job.submit) {
      waited.push_back(&job);
    }
  }
  Calibration calibration;
  calibration.waited = waited.size();
  calibration.forecast = std::min(most, waited.size());
  LimitUse use;
  auto ended = by_end.begin();
  for (std::size_t i = 0; i < calibration.forecast; ++i) {
    const PastJob& job = *waited[i * waited.size() / calibration.forecast];
    for (; ended != by_end.end() && ended->end <= job.submit; ++ended) {
      use.Add(ended->user, ended->end - ended->start, ended->limit);
    }
    const StartQuantiles forecast =
        ForecastStarts(StateAt(jobs, job, processors), policy, use, options).back();
    Record(forecast.p50, job, &calibration.p50);
    Record(forecast.p90, job, &calibration.p90);
    Record(forecast.if_limits, job, &calibration.if_limits);
  }
  for (PromiseRecord* record : {&calibration.p50, &calibration.p90, &calibration.if_limits}) {
    const double count = std::max<double>(1, static_cast<double>(calibration.forecast));
    record->error /= count;
    record->promised_wait /= count;
  }
  return calibration;
}

}  // namespace muster::sim

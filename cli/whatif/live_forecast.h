#pragma once

// Start estimates for the jobs that wait in a live cluster: its state as the forecast takes it, and
// what comes of it as a table and as a JSON document.
//
// The cluster is taken for identical processors: hardware threads, or GPUs. Jobs that wait for
// something else than resources (a hold, a dependency, a limit), jobs without a time limit and jobs
// larger than what is up get no estimate and are counted. Invariants: what is estimated is in order
// of priority, then submission, then id; the same views give the same bytes.

#include <cstdint>
#include <string>
#include <vector>

#include "cli/page/style.h"
#include "scheduler/model/view/view.h"
#include "scheduler/simulator/forecast/start_forecast.h"

namespace muster::cli {

enum class ForecastUnit : std::uint8_t { kCpus, kGpus };

struct LiveState {
  sim::ForecastState state;
  std::vector<JobView> waiting;  // those of state.waiting
  sim::LimitUse use;
  std::uint64_t past = 0;      // ended jobs that `use` is of
  std::uint64_t left_out = 0;  // waiting jobs without an estimate
};

// `history`: newest first, as the controller lists it.
LiveState ReadLiveState(const std::vector<NodeView>& nodes, const std::vector<JobView>& jobs,
                        const std::vector<JobView>& history, Time now, ForecastUnit unit);

// The live default is nearest to this: no waiting job is delayed by a later one.
sim::FlatPolicy LivePolicy();

std::string PrintLiveForecast(const LiveState& live, const std::vector<sim::StartQuantiles>& starts,
                              const sim::ForecastOptions& options, const Style& style);
std::string LiveForecastDocument(const LiveState& live,
                                 const std::vector<sim::StartQuantiles>& starts,
                                 const sim::ForecastOptions& options);

}  // namespace muster::cli

#pragma once

// What changes do to a workload, as a page of text, as a JSON document and as a page for a browser.

#include <optional>
#include <string>
#include <vector>

#include "cli/page/style.h"
#include "scheduler/simulator/flat/flat_simulation.h"
#include "scheduler/simulator/forecast/forecast_calibration.h"
#include "scheduler/simulator/schedule/schedule_comparison.h"
#include "scheduler/simulator/schedule/schedule_metrics.h"
#include "scheduler/simulator/schedule/schedule_profile.h"

namespace muster::cli {

struct WhatifVariant {
  std::string change;  // empty: the base
  sim::FlatResult result;
  std::vector<sim::Metric> metrics;
  sim::ScheduleProfile profile;  // where the browser's page is wanted
  sim::Comparison comparison;    // with the base; empty for the base itself
};

struct WhatifOutcome {
  std::string trace;
  sim::BootstrapOptions bootstrap;
  std::vector<WhatifVariant> variants;  // the base first
  bool complete = true;                 // false: stopped before the last variant
  std::optional<sim::Calibration> calibration;
  sim::ForecastOptions forecast;  // of the calibration
};

std::string PrintWhatif(const WhatifOutcome& outcome, const Style& style);
std::string WhatifDocument(const WhatifOutcome& outcome);
// REQUIRES: the variants have profiles.
std::string WhatifHtml(const WhatifOutcome& outcome);

}  // namespace muster::cli

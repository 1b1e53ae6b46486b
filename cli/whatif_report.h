#pragma once

// What changes do to a workload, as a page and as a JSON document.
//
// Thread promise: pure.

#include <string>
#include <vector>

#include "cli/render/style.h"
#include "scheduler/simulator/flat_simulation.h"
#include "scheduler/simulator/schedule_comparison.h"
#include "scheduler/simulator/schedule_metrics.h"

namespace muster {

struct WhatifVariant {
  std::string change;  // empty: the base
  FlatResult result;
  std::vector<Metric> metrics;
  Comparison comparison;  // with the base; empty for the base itself
};

struct WhatifOutcome {
  std::string trace;
  BootstrapOptions bootstrap;
  std::vector<WhatifVariant> variants;  // the base first
  bool complete = true;                 // false: stopped before the last variant
};

std::string PrintWhatif(const WhatifOutcome& outcome, const Style& style);
std::string WhatifDocument(const WhatifOutcome& outcome);

}  // namespace muster

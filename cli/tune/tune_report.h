#pragma once

// What a search for settings found: as a page, as a JSON document, and who loses by it.

#include <string>

#include "cli/page/style.h"
#include "cli/tune/tune_search.h"
#include "scheduler/simulator/schedule/schedule_comparison.h"

namespace muster::cli {

struct TuneOutcome {
  TuneFound found;
  sim::Comparison comparison;  // of the current settings with the best, after the split
};

// True when the best choice is another than the current one, and surely better after the split, or
// better where the goal has no interval (utilisation).
bool IsWorthIt(const TuneOutcome& outcome, TuneGoal goal);

std::string PrintTune(const TuneWorkload& workload, const TuneOptions& options,
                      const TuneOutcome& outcome, const Style& style);
std::string TuneDocument(const TuneWorkload& workload, const TuneOptions& options,
                         const TuneOutcome& outcome);
// The settings, with a comment that says what they are worth.
std::string TuneFile(const TuneWorkload& workload, const TuneOptions& options,
                     const TuneOutcome& outcome);

}  // namespace muster::cli

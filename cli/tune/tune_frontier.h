#pragma once

// The frontier of a workload: what short waits for most cost the one who waits longest, as the
// slack of promises goes from nothing to for ever, drawn as a picture (SVG).
//
// Patience grows with the slack, as in the settings. Thread promise: RunFrontier as RunTrials; the
// picture is pure. Invariants: the same workload and settings give the same bytes.

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/tune/tune_results.h"
#include "cli/tune/tune_trial.h"

namespace muster::cli {

struct FrontierPoint {
  std::string label;  // "24h", "easy"
  TuneMeasures measures;
  bool on_curve = false;  // of the order called prompt
};

absl::StatusOr<std::vector<FrontierPoint>> RunFrontier(const TuneWorkload& workload,
                                                       const TuneSettings& settings,
                                                       std::uint32_t threads,
                                                       std::atomic<bool>& stop,
                                                       TuneResults& results);

// REQUIRES: points.
std::string FrontierSvg(const std::string& title, const std::vector<FrontierPoint>& points);

}  // namespace muster::cli

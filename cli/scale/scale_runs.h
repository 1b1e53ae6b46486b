#pragma once

// The runs of `muster scale`: the same command at one size after another, several times each.
//
// Thread promise: the main thread; waits for each run. Invariants: runs follow one upon another, so
// that none disturbs another; the sizes ascend from 1.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "cli/picture/scaling_plot.h"
#include "scheduler/model/value/ids.h"

namespace muster::cli {

// What the options of the verb's own say.
struct ScalingRequest {
  bool gpus = false;  // what grows; else ranks
  int max = 0;
  int repeat = 1;
  bool weak = false;
  std::string measure = {};  // a regular expression; empty: the step's own time
  bool higher_is_better = false;
  double floor = 0.7;
  bool json = false;
};

// One run: where it was, and the seconds of its step or the number that it printed.
struct ScaleRun {
  JobId job = {};
  StepId step = {};
  double value = 0;
};

struct ScalePoint {
  int n = 0;
  std::vector<ScaleRun> runs = {};  // at least one
  [[nodiscard]] double Median() const;
  // From the lowest to the highest, as a share of the median.
  [[nodiscard]] double Spread() const;
};

struct ScaleMeasured {
  std::vector<ScalePoint> points;
  absl::Status stopped;  // why there are no more
};

// The options of the verb's own.
std::vector<Option> ScaleOptions();
absl::StatusOr<ScalingRequest> ReadScale(const Invocation& invocation);

// 1, 2, 4 and so on, and `max`.
std::vector<int> ScaleSizes(int max);

// What `muster run` is asked for at one size: {N} in the command is that number.
Invocation AtSize(const Invocation& invocation, const ScalingRequest& request, int n);

// The times that compare: of a rate, what it takes for the work of one run.
ScalingResult ResultOf(const ScalingRequest& request, const std::string& command,
                       const std::vector<ScalePoint>& points);

// InvalidArgument when the command or its options are refused before anything ran.
absl::StatusOr<ScaleMeasured> MeasureScaling(const Invocation& invocation,
                                             const ScalingRequest& request);

}  // namespace muster::cli

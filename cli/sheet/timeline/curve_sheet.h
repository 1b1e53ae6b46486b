#pragma once

// What a job used over time, as lines of a terminal.
//
// Pure. Thread promise: safe from any thread. Invariant: a line is no wider than the page.

#include <string>
#include <vector>

#include "cli/page/style.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster::cli {

struct UsagePoint {
  Time start = kNoTime;
  Duration span{0};
  double cpus = 0;
  double gpus = 0;
  double watts = 0;
  Bytes memory;
  Bytes gpu_memory;
  static constexpr auto Fields(auto list) {
    return list(Field{"start", &UsagePoint::start}, Field{"span", &UsagePoint::span},
                Field{"cpus", &UsagePoint::cpus}, Field{"gpus", &UsagePoint::gpus},
                Field{"watts", &UsagePoint::watts}, Field{"memory", &UsagePoint::memory},
                Field{"gpu_memory", &UsagePoint::gpu_memory});
  }
};

struct UsageCurve {
  std::string label;
  std::vector<UsagePoint> points;
  static constexpr auto Fields(auto list) {
    return list(Field{"label", &UsageCurve::label}, Field{"points", &UsageCurve::points});
  }
};

// A line for each kind that was used: its course, its mean and its most.
std::string PrintCurve(const UsageCurve& curve, const Style& style);

}  // namespace muster::cli

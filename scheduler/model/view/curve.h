#pragma once

// What a job used over time.

#include <string>
#include <vector>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster {

// What a job used in a span of time, on average or, of memory, at most.
struct CurvePoint {
  Time start = kNoTime;
  Duration span{0};
  double cpus = 0;   // busy
  double gpus = 0;   // busy
  double watts = 0;  // of GPUs and its share of the processors
  Bytes memory;      // the most so far, of all its nodes together
  Bytes gpu_memory;  // the most so far on one GPU
  static constexpr auto Fields(auto list) {
    return list(Field{"start", &CurvePoint::start}, Field{"span", &CurvePoint::span},
                Field{"cpus", &CurvePoint::cpus}, Field{"gpus", &CurvePoint::gpus},
                Field{"watts", &CurvePoint::watts}, Field{"memory", &CurvePoint::memory},
                Field{"gpu_memory", &CurvePoint::gpu_memory});
  }
};

struct JobCurve {
  JobId job;
  std::string label;
  std::vector<CurvePoint> points;  // by time, without overlap; older ones have longer spans
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &JobCurve::job}, Field{"label", &JobCurve::label},
                Field{"points", &JobCurve::points});
  }
};

}  // namespace muster

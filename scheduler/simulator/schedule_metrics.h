#pragma once

// What a schedule was like, in the field's numbers, each with its definition.
//
// Exact: medians and percentiles come from all values (16 bytes a job), not from a sketch. Thread
// promise: a value; one thread at a time. Invariants: the same rows in the same order give the same
// bits on every machine (+, *, /, square root of doubles; no contraction).

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/simulator/schedule_row.h"

namespace muster {

struct Metric {
  const char* name = "";
  double value = 0;
  bool whole = false;  // always a whole number
  const char* unit = "";
  const char* definition = "";
};

class ScheduleMetrics {
 public:
  void Add(const ScheduleRow& row);
  [[nodiscard]] std::uint64_t jobs() const { return waits_.size(); }

  // Empty without jobs. Reorders what is kept, nothing else.
  std::vector<Metric> Compute(std::int64_t processors);

 private:
  std::vector<std::int64_t> waits_;
  std::vector<double> slowdowns_;  // bounded
  double wait_sum_ = 0;
  double slowdown_sum_ = 0;
  double slowdown_squares_ = 0;
  double turnaround_sum_ = 0;
  double turnaround_squares_ = 0;
  std::int64_t turnaround_max_ = 0;
  double stretch_sum_ = 0;
  double stretch_max_ = 0;
  double work_ = 0;  // processor seconds
  std::int64_t first_submission_ = 0;
  std::int64_t last_finish_ = 0;
};

}  // namespace muster

#pragma once

// Several schedules of the same jobs on one page that a browser shows from disk: the metrics side
// by side, who gains and who loses, the waits, the load over time.
//
// The page holds its data, script and style and fetches nothing; its size depends on the number of
// users, not on that of jobs.

#include <optional>
#include <string>
#include <vector>

#include "scheduler/simulator/readers/name_table.h"
#include "scheduler/simulator/schedule/schedule_comparison.h"
#include "scheduler/simulator/schedule/schedule_metrics.h"
#include "scheduler/simulator/schedule/schedule_profile.h"

namespace muster::sim {

// One schedule. The first is what the others are compared with.
struct ComparedSchedule {
  std::string name;
  std::int64_t processors = 0;
  std::vector<Metric> metrics;
  ScheduleProfile profile;
  Comparison comparison;  // with the first; empty for that one itself
};

struct ComparisonReport {
  std::string title;
  std::string subtitle;
  std::string partial;                     // why it is not all; empty when it is
  std::optional<std::int64_t> unix_start;  // of the trace's time 0
  double confidence = 0;                   // of the intervals
  std::vector<ComparedSchedule> schedules;
};

// REQUIRES: a schedule.
std::string ComparisonHtml(const ComparisonReport& report, const TraceNames& names);

}  // namespace muster::sim

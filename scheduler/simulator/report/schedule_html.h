#pragma once

// A schedule as one page that a browser shows from disk: Gantt chart, load, waits, who waited.
//
// The page holds its data, script and style and fetches nothing.

#include <optional>
#include <string>
#include <vector>

#include "scheduler/simulator/cluster/free_room.h"
#include "scheduler/simulator/flat/flat_simulation.h"
#include "scheduler/simulator/report/drawn_jobs.h"
#include "scheduler/simulator/schedule/schedule_metrics.h"

namespace muster::sim {

// How large a job one node could take through time, and how scattered what is free was.
struct ReportedRoom {
  std::string what;  // "GPUs"
  const FreeRoom* room = nullptr;
};

struct ScheduleReport {
  std::string title;
  std::string subtitle;
  std::string partial;  // why it is not all; empty when it is
  std::int64_t processors = 0;
  std::optional<std::int64_t> unix_start;  // of the trace's time 0
  std::vector<Metric> metrics;
  std::vector<ReportedRoom> rooms;  // those of no size are left out
};

std::string ScheduleHtml(const ScheduleReport& report, const DrawnJobs& jobs,
                         const TraceNames& names);

}  // namespace muster::sim

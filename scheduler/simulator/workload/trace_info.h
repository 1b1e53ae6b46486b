#pragma once

// What a trace holds: jobs, span, the machine, load week by week, what is broken.
//
// Memory: 8 bytes a week and a set of users.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/simulator/readers/trace_format.h"

namespace muster::sim {

struct TraceWeek {
  std::uint64_t jobs = 0;  // submitted in it
  double work = 0;         // processor seconds that they ran
  double load = 0;         // work / (processors x a week); 0 without a machine size
};

struct TraceInfo {
  TraceFormat format = TraceFormat::kSwf;
  bool counts_gpus = false;  // a processor below is a GPU
  TraceHeader header;
  SkippedRecords skipped;
  std::uint64_t records = 0;  // broken ones too
  std::uint64_t steps = 0;    // lines of no job: steps of jobs in accounting dumps
  std::uint64_t jobs = 0;     // with a run time and processors
  std::uint64_t no_run_time = 0;
  std::uint64_t no_processors = 0;
  std::uint64_t too_large = 0;     // for the machine
  std::uint64_t out_of_order = 0;  // submitted before the record in front of them
  std::int64_t first_submit = 0;
  std::int64_t last_submit = 0;
  std::int64_t largest = 0;  // processors
  std::uint64_t users = 0;
  std::uint64_t with_gpus = 0;      // jobs that have GPUs or shares of them
  double gpu_hours = 0;             // that they ran
  std::uint64_t with_estimate = 0;  // jobs that name a requested time
  std::uint64_t over_estimate = 0;  // of these, that ran longer
  double estimate_used = 0;         // mean of run time / requested time, at most 1 each
  double load = 0;                  // work / (processors x span); 0 without a machine size
  std::vector<TraceWeek> weeks;     // from the first submission on
};

// How large the machine is, for a caller that knows better than the trace; 0: what its header says.
struct MachineSize {
  std::int64_t cpus = 0;
  std::int64_t gpus = 0;
};

absl::StatusOr<TraceInfo> DescribeTrace(const TraceOptions& options, const MachineSize& machine);

}  // namespace muster::sim

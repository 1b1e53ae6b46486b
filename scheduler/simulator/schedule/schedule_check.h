#pragma once

// Job by job: does another program's schedule start the same jobs at the same moments?
//
// The other schedule is a table with the columns job_id and starting_time, or a workload in the
// Standard Workload Format, where a job starts at submission + wait. Thread promise: a value; one
// thread at a time. Memory: 16 bytes for each job of the other schedule.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/simulator/schedule/schedule_row.h"

namespace muster::sim {

struct CheckReport {
  std::uint64_t compared = 0;   // jobs of both
  std::uint64_t different = 0;  // that start at another moment
  std::uint64_t only_here = 0;
  std::uint64_t only_there = 0;
  std::vector<std::string> examples;  // of the first few differences, as sentences
  [[nodiscard]] bool same() const { return different + only_here + only_there == 0; }
};

class ScheduleCheck {
 public:
  static absl::StatusOr<ScheduleCheck> Open(const std::string& path);

  // What was compared before is void: the simulation begins again.
  void Restart();
  void Compare(const ScheduleRow& row);
  // With the jobs that only the other schedule has. Call once, at the end.
  CheckReport Finish();

 private:
  struct Start {
    std::int64_t job_id = 0;
    std::int64_t at = 0;
    bool seen = false;
  };

  void Note(std::string sentence);

  std::vector<Start> starts_;  // by job id
  CheckReport report_;
};

}  // namespace muster::sim

#pragma once

// A schedule over time, and its waits as counts: what a page draws of it without its jobs.
//
// Thread promise: a value; one thread at a time. Memory: 32 bytes a job. Invariants: the areas of
// all slices together are those of all jobs (processor seconds, waiting seconds), whatever the
// slices, as long as these cover the schedule.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/simulator/schedule/schedule_row.h"

namespace muster::sim {

// Equal parts of the time from `from` on.
struct TimeSlices {
  std::int64_t from = 0;
  std::int64_t length = 1;  // s
  std::size_t count = 0;
};

// At most `most` slices of whole seconds that cover [from, to). REQUIRES: from <= to, most > 0.
TimeSlices SliceTime(std::int64_t from, std::int64_t to, std::size_t most);

// Waits are counted by the first of these (s) that they do not exceed; longer ones for themselves.
inline constexpr std::array<std::int64_t, 29> kWaitBounds = {
    0,     1,     2,      5,      10,     15,     30,     60,      120,    300,
    600,   900,   1800,   3600,   7200,   10800,  14400,  21600,   28800,  43200,
    64800, 86400, 129600, 172800, 259200, 432000, 604800, 1209600, 2592000};

class ScheduleProfile {
 public:
  void Add(const ScheduleRow& row);
  void Clear() { jobs_.clear(); }

  [[nodiscard]] bool empty() const { return jobs_.empty(); }
  // The first submission and the last end. REQUIRES: not empty.
  [[nodiscard]] std::int64_t first() const;
  [[nodiscard]] std::int64_t last() const;

  // Means over each slice. REQUIRES: the slices begin at or before first() and cover last().
  [[nodiscard]] std::vector<double> ProcessorsInUse(const TimeSlices& slices) const;
  [[nodiscard]] std::vector<double> JobsWaiting(const TimeSlices& slices) const;
  // One count for each of kWaitBounds, and one for what is longer.
  [[nodiscard]] std::vector<std::uint64_t> WaitCounts() const;

 private:
  struct Job {
    std::int64_t submit = 0;
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::int64_t processors = 0;
  };

  std::vector<Job> jobs_;
};

}  // namespace muster::sim

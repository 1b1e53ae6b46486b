#pragma once

// The rows of a schedule as the pictures of it need them: column by column, names as numbers.
//
// Attempts that were ended stand before the job's last one. Thread promise: a value; one thread at
// a time. Memory: some 80 bytes an attempt; jobs that end once kDrawnMax attempts are kept are
// counted, not kept.

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/simulator/readers/name_table.h"
#include "scheduler/simulator/schedule/schedule_row.h"

namespace muster::sim {

class DrawnJobs {
 public:
  static constexpr std::size_t kDrawnMax = 500'000;

  struct Job {
    std::int64_t id = 0;
    std::int64_t submit = 0;
    std::int64_t wait = 0;
    std::int64_t run_time = 0;
    std::int64_t processors = 0;
    std::int64_t user = -1;
    std::int64_t partition = -1;
    std::int64_t reason = -1;  // in reasons()
    std::string ranges;        // "0-3 7"
    std::int64_t since = 0;    // when it began to wait for this attempt
    bool earlier = false;      // an attempt that was ended: the job began again
  };

  void Add(const ScheduleRow& row);
  void Clear();

  [[nodiscard]] const std::vector<Job>& jobs() const { return jobs_; }
  [[nodiscard]] const NameTable& reasons() const { return reasons_; }
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  void AddEarlier(const ScheduleRow& row);

  std::vector<Job> jobs_;
  NameTable reasons_;
  std::uint64_t left_out_ = 0;
};

}  // namespace muster::sim

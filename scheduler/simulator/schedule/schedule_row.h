#pragma once

// One job of a schedule, as it is written, audited and compared: when it came, ran and ended.
//
// Times are whole seconds of the trace. Nothing here knows of a scheduler.

#include <cstdint>
#include <string>

namespace muster::sim {

struct ScheduleRow {
  std::int64_t job_id = 0;
  std::int64_t submission_time = 0;
  std::int64_t requested_resources = 0;  // processors
  std::int64_t requested_time = 0;       // the run time where the trace names none
  bool success = true;                   // false: it was cut off at its requested time
  std::int64_t starting_time = 0;
  std::int64_t execution_time = 0;
  std::string allocated_resources;   // "0-3 7"
  std::string reason;                // why it started: head, backfilled, reserved
  std::int64_t promised_start = -1;  // the latest start it had been promised; -1: none
  std::int64_t user = -1;            // a number of the trace's; -1: not known; so are these
  std::int64_t group = -1;
  std::int64_t partition = -1;
  std::int64_t gpus = 0;
  std::int64_t nodes = 0;  // how many; 0: there are none, only processors
  // Attempts that failures or preemption ended, before the one that the row tells of: start, end
  // and processors of each, "10-25:0-3 7;40-52:0-4".
  std::string earlier_attempts;

  [[nodiscard]] std::int64_t finish_time() const { return starting_time + execution_time; }
  [[nodiscard]] std::int64_t waiting_time() const { return starting_time - submission_time; }
  [[nodiscard]] std::int64_t turnaround_time() const { return finish_time() - submission_time; }
};

}  // namespace muster::sim

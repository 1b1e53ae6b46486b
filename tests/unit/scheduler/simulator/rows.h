#pragma once

// Keeps what a simulation tells of its jobs, for the tests of the simulator: by id, and as a table.
//
// Thread promise: one thread. Invariants: `table` is what --jobs-csv would have written.

#include <cstdint>
#include <map>
#include <string>

#include "scheduler/simulator/flat/flat_simulation.h"
#include "scheduler/simulator/schedule/schedule_csv.h"

namespace muster::sim::testing {

class Rows final : public FlatObserver {
 public:
  absl::Status Begin(std::int64_t processors) override {
    (void)processors;
    rows.clear();
    table = ScheduleHeader();
    return absl::OkStatus();
  }
  absl::Status Ended(const ScheduleRow& row) override {
    rows[row.job_id] = row;
    AppendRow(row, &table);
    return absl::OkStatus();
  }
  bool KeepGoing(const FlatProgress& progress) override {
    (void)progress;
    return true;
  }

  std::map<std::int64_t, ScheduleRow> rows;
  std::string table;
};

}  // namespace muster::sim::testing

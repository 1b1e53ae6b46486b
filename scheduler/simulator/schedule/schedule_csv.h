#pragma once

// A schedule as a table of text, with the columns of Batsim's and evalys' job files and ours.
//
// job_id,submission_time,requested_number_of_resources,requested_time,success,starting_time,
// execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources, then gpus,
// nodes, reason, promised_start. Times are whole seconds; stretch is the shortest text that reads
// back as the same number; what does not apply is empty. A table that is not complete ends in a
// line that begins with '#' and says so. Thread promise: pure functions; a reader is one thread's.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/simulator/readers/line_reader.h"
#include "scheduler/simulator/schedule/schedule_row.h"

namespace muster::sim {

// The first line, with its end.
std::string ScheduleHeader();

void AppendRow(const ScheduleRow& row, std::string* text);

// Reads such a table, ours or another program's with at least the columns that the caller names;
// columns come in any order and others are passed over.
class ScheduleReader {
 public:
  static absl::StatusOr<std::unique_ptr<ScheduleReader>> Open(
      const std::string& path, const std::vector<std::string>& needed);

  // The next row; false at the end.
  absl::StatusOr<bool> Next(ScheduleRow* row);
  // What the table itself says, as opposed to what a row works out from start and run time; of the
  // row that Next gave last. Empty where there is no such column.
  [[nodiscard]] const std::string& Text(const std::string& column) const;

  [[nodiscard]] std::uint64_t line() const { return line_; }
  // The table says of itself that it is not complete.
  [[nodiscard]] bool partial() const { return partial_; }

 private:
  ScheduleReader(std::string path, std::unique_ptr<ByteSource> source)
      : path_(std::move(path)), lines_(std::move(source)) {}

  absl::Status ReadHeader(const std::vector<std::string>& needed);
  absl::Status ReadNumber(const char* column, std::int64_t* number) const;

  std::string path_;
  LineReader lines_;
  std::vector<std::string> columns_;
  std::vector<std::string> values_;
  std::uint64_t line_ = 0;
  bool partial_ = false;
};

}  // namespace muster::sim

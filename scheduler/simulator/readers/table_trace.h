#pragma once

// Traces that are tables: sacct's dumps and the CSV files of GPU clusters, row by row.
//
// What each column means is data (table_formats.h). Lines that begin with '#' are passed over. A
// dump with dates is read twice, once for its earliest submission, which becomes time 0. Thread
// promise and invariants: trace_reader.h's.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/simulator/readers/line_reader.h"
#include "scheduler/simulator/readers/table_formats.h"
#include "scheduler/simulator/readers/trace_reader.h"

namespace muster::sim {

class TableReader final : public TraceReader {
 public:
  // Reads `source`, which has been opened at the beginning of `path`. `format` must outlive it.
  static absl::StatusOr<std::unique_ptr<TableReader>> Begin(const std::string& path, bool lenient,
                                                            std::unique_ptr<ByteSource> source,
                                                            const TableFormat& format);

  [[nodiscard]] const ByteSource& source() const override { return lines_.source(); }

 private:
  TableReader(const std::string& path, bool lenient, std::unique_ptr<ByteSource> source,
              const TableFormat& format)
      : TraceReader(path, lenient), lines_(std::move(source)), format_(format) {}

  absl::StatusOr<Found> ReadOne(TraceRecord* record, absl::Status* broken) override;
  absl::Status ReadHeader();
  absl::Status FindOrigin();
  absl::Status ReadRow(const Line& line, TableRow* row);
  absl::Status FinishRow(const Line& line, TableRow* row) const;

  LineReader lines_;
  const TableFormat& format_;
  std::vector<std::size_t> places_;  // of each column of the format among those of the file
  std::size_t columns_ = 0;          // of the file
  std::int64_t origin_ = 0;          // s, in the file's time
  std::vector<std::string_view> parts_;
};

}  // namespace muster::sim

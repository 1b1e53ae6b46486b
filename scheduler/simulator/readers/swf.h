#pragma once

// The Standard Workload Format, record by record: https://www.cs.huji.ac.il/labs/parallel/workload/
// swf.html, version 2.2.
//
// A record is a line of 18 fields between blanks; -1 says "not known"; lines that begin with ';'
// are comments, and those before the first record may hold "Key: value". Thread promise and
// invariants: trace_reader.h's.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "scheduler/simulator/readers/line_reader.h"
#include "scheduler/simulator/readers/trace_reader.h"

namespace muster::sim {

class SwfReader final : public TraceReader {
 public:
  static absl::StatusOr<std::unique_ptr<SwfReader>> Open(const std::string& path, bool lenient);
  // Reads `source`, which has been opened at the beginning of `path`.
  static absl::StatusOr<std::unique_ptr<SwfReader>> Begin(const std::string& path, bool lenient,
                                                          std::unique_ptr<ByteSource> source);

  [[nodiscard]] const ByteSource& source() const override { return lines_.source(); }

 private:
  SwfReader(const std::string& path, bool lenient, std::unique_ptr<ByteSource> source)
      : TraceReader(path, lenient), lines_(std::move(source)) {}

  absl::StatusOr<Found> ReadOne(TraceRecord* record, absl::Status* broken) override;
  absl::Status ReadComment(const Line& line);
  absl::Status ReadHeaderNumber(const Line& line, const std::string& key, std::string_view value,
                                std::optional<std::int64_t>* number);
  absl::Status ReadRecord(const Line& line, TraceRecord* record) const;
  absl::Status ReadField(const Line& line, std::size_t field, std::string_view* rest,
                         TraceRecord* record) const;

  LineReader lines_;
};

}  // namespace muster::sim

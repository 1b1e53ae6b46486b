#pragma once

// The Standard Workload Format, record by record: https://www.cs.huji.ac.il/labs/parallel/workload/
// swf.html, version 2.2. Compressed files are decompressed on the way.
//
// A record is a line of 18 fields between blanks; -1 says "not known"; lines that begin with ';'
// are comments, and those before the first record may hold "Key: value". Strict: anything else is
// an error of one line, "FILE:LINE: WHAT: MEND". Lenient: such a record is left out and counted,
// and so is the rest of a file that ends in the middle of its compression. Thread promise: a value;
// one thread at a time. Invariants: (1) memory does not grow with the file (a job's id is
// remembered, in ranges); (2) times are whole seconds of at most 10^12 in size, counts at most
// 10^9; (3) no id comes twice.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "scheduler/simulator/id_set.h"
#include "scheduler/simulator/readers/line_reader.h"

namespace muster {

// What is used of the 18 fields. Times are in seconds since the log's beginning.
struct SwfRecord {
  std::uint64_t line = 0;
  std::int64_t job_id = 0;
  std::int64_t submit = 0;
  std::int64_t wait = -1;  // on the real machine
  std::int64_t run_time = -1;
  std::int64_t allocated = -1;  // processors
  std::int64_t requested = -1;  // processors
  std::int64_t requested_time = -1;
  std::int64_t status = -1;
  std::int64_t user = -1;
  std::int64_t group = -1;
  std::int64_t queue = -1;
  std::int64_t partition = -1;
};

// What the header says of the machine and the log. It may lie: nothing is allocated by it.
struct SwfHeader {
  std::optional<std::int64_t> max_procs;
  std::optional<std::int64_t> max_nodes;
  std::optional<std::int64_t> max_jobs;
  std::optional<std::int64_t> unix_start;
  std::string computer;
};

// What a lenient reader has left out.
struct SwfSkipped {
  std::uint64_t lines = 0;       // broken records
  std::uint64_t duplicates = 0;  // further records of an id
  bool truncated = false;        // the file ends in the middle of its compression
  std::string first;             // the first error
};

class SwfReader {
 public:
  // Reads the header and the first record, so that errors there come at once.
  static absl::StatusOr<std::unique_ptr<SwfReader>> Open(const std::string& path, bool lenient);

  // The next record; false at the end.
  absl::StatusOr<bool> Next(SwfRecord* record);

  // What stands before the first record: complete from the beginning.
  [[nodiscard]] const SwfHeader& header() const { return header_; }
  [[nodiscard]] const SwfSkipped& skipped() const { return skipped_; }
  [[nodiscard]] std::uint64_t records() const { return records_; }
  [[nodiscard]] const ByteSource& source() const { return lines_.source(); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  SwfReader(std::string path, std::unique_ptr<ByteSource> source, bool lenient)
      : path_(std::move(path)), lines_(std::move(source)), lenient_(lenient) {}

  absl::StatusOr<bool> Read(SwfRecord* record);
  absl::Status ReadComment(const Line& line);
  absl::Status ReadHeaderNumber(const Line& line, const std::string& key, std::string_view value,
                                std::optional<std::int64_t>* number);
  absl::Status ReadRecord(const Line& line, SwfRecord* record);
  absl::Status Error(const Line& line, const std::string& what) const;
  void Skip(const absl::Status& status);

  std::string path_;
  LineReader lines_;
  bool lenient_;
  SwfHeader header_;
  SwfSkipped skipped_;
  std::uint64_t records_ = 0;
  IdSet ids_;
  std::optional<SwfRecord> first_;  // read and not given out
};

}  // namespace muster

#pragma once

// A workload trace, record by record, whatever its format: what all readers give and how they fail.
//
// Compressed files are decompressed on the way. Strict: what cannot be read is an error of one
// line, "FILE:LINE: WHAT: MEND". Lenient: such a record is left out and counted, and so is the rest
// of a file that ends in the middle. Thread promise: a value; one thread at a time. Invariants:
// (1) memory does not grow with the records (their ids are remembered, in ranges, and the distinct
// names of users, accounts, partitions and queues); (2) times are whole seconds of at most 10^12
// in size, counts at most 10^9; (3) no id comes twice.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "scheduler/simulator/id_set.h"
#include "scheduler/simulator/readers/byte_source.h"
#include "scheduler/simulator/readers/name_table.h"

namespace muster::sim {

// In which format a trace is written. Invariant: values are positions in kTraceFormats.
enum class TraceFormat : std::uint8_t {
  kSwf = 0,
  kSacct = 1,
  kBatsim = 2,
  kOpenb = 3,
  kPhilly = 4,
  kTiresias = 5,
  kDlrm = 6,
  kCsv = 7,
  kJobsCsv = 8,
};
struct TraceFormatRow {
  TraceFormat format;
  const char* name;
  const char* title;
  bool is_of_gpus;  // a processor of its records is a GPU
};
inline constexpr std::array<TraceFormatRow, 9> kTraceFormats = {{
    {TraceFormat::kSwf, "swf", "Standard Workload Format", false},
    {TraceFormat::kSacct, "sacct", "Slurm accounting (sacct --parsable2)", false},
    {TraceFormat::kBatsim, "batsim", "Batsim workload (JSON)", false},
    {TraceFormat::kOpenb, "openb", "Alibaba openb pods (cluster-trace-gpu-v2023)", true},
    {TraceFormat::kPhilly, "philly", "Philly jobs as in Chronus", true},
    {TraceFormat::kTiresias, "tiresias", "Tiresias jobs", true},
    {TraceFormat::kDlrm, "dlrm", "Alibaba DLRM instances (cluster-trace-gpu-v2025)", true},
    {TraceFormat::kCsv, "csv", "muster trace convert --to csv", false},
    {TraceFormat::kJobsCsv, "jobs-csv",
     "table of jobs of a simulation (Batsim, evalys, --jobs-csv)", false},
}};
const TraceFormatRow& RowOf(TraceFormat format);
const char* Name(TraceFormat format);
// InvalidArgument: `"NAME" is not a format: one of …`.
absl::StatusOr<TraceFormat> ParseTraceFormat(const std::string& name);
// "swf, sacct, … or jobs-csv".
std::string TraceFormatNames();

// The largest values that are taken for a time (s), a count of anything, and an id.
inline constexpr std::int64_t kTraceTimeMax = 1'000'000'000'000;
inline constexpr std::int64_t kTraceCountMax = 1'000'000'000;
inline constexpr std::int64_t kTraceIdMax = 1'000'000'000'000'000;

// One job as the trace tells of it. Times are in seconds since the log's beginning; -1 is "not
// known".
struct TraceRecord {
  std::uint64_t line = 0;
  std::int64_t job_id = 0;
  std::int64_t submit = 0;
  std::int64_t wait = -1;  // on the real machine
  std::int64_t run_time = -1;
  std::int64_t allocated = -1;  // processors
  std::int64_t requested = -1;  // processors
  std::int64_t requested_time = -1;
  std::int64_t status =
      -1;                  // as in the Standard Workload Format: 1 completed, 0 failed, 5 cancelled
  std::int64_t user = -1;  // a number of the log's own, or of TraceNames
  std::int64_t group = -1;
  std::int64_t queue = -1;
  std::int64_t partition = -1;
  std::int64_t gpu_milli = -1;  // thousandths of GPUs, all of the job's together
  std::int64_t nodes = -1;
  std::int64_t memory_mib = -1;  // all of the job's together
  std::int64_t gres = -1;        // of TraceNames: all of the job's countable things together
};

// What the header says of the machine and the log. It may lie: nothing is allocated by it.
struct TraceHeader {
  std::optional<std::int64_t> max_procs;
  std::optional<std::int64_t> max_nodes;
  std::optional<std::int64_t> max_jobs;
  std::optional<std::int64_t> unix_start;
  std::string computer;
};

// What a lenient reader has left out.
struct SkippedRecords {
  std::uint64_t lines = 0;       // broken records
  std::uint64_t duplicates = 0;  // further records of an id
  bool truncated = false;        // the file ends in the middle
  std::string first;             // the first error
};

class TraceReader {
 public:
  TraceReader(const TraceReader&) = delete;
  TraceReader& operator=(const TraceReader&) = delete;
  virtual ~TraceReader() = default;

  // The next record; false at the end.
  absl::StatusOr<bool> Next(TraceRecord* record);

  // What stands before the first record: complete from the beginning.
  [[nodiscard]] const TraceHeader& header() const { return header_; }
  [[nodiscard]] const SkippedRecords& skipped() const { return skipped_; }
  // Met so far, broken ones too.
  [[nodiscard]] std::uint64_t records() const { return records_; }
  // Met so far that are no jobs: steps of jobs in accounting dumps.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] const TraceNames& names() const { return names_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  // Where the bytes come from.
  [[nodiscard]] virtual const ByteSource& source() const = 0;
  // A processor is a GPU from now on: records have as many as their GPUs, shares rounded up.
  void CountGpus() { counts_gpus_ = true; }

 protected:
  enum class Found : std::uint8_t { kRecord, kBroken, kEnd };

  TraceReader(std::string path, bool lenient) : path_(std::move(path)), lenient_(lenient) {}

  // The next record, or what is wrong with it; afterwards the next one can be read. An error is of
  // the file and ends the reading.
  virtual absl::StatusOr<Found> ReadOne(TraceRecord* record, absl::Status* broken) = 0;

  // Reads the header and the first record, so that errors there come at once.
  absl::Status Begin();
  [[nodiscard]] absl::Status ErrorAt(std::uint64_t line, const std::string& what) const;
  [[nodiscard]] bool lenient() const { return lenient_; }
  void CountStep() { ++steps_; }
  TraceHeader& mutable_header() { return header_; }
  TraceNames& mutable_names() { return names_; }

 private:
  absl::StatusOr<bool> Read(TraceRecord* record);
  absl::Status Skip(const absl::Status& broken);
  absl::StatusOr<bool> EndOf(const absl::Status& status);

  std::string path_;
  bool lenient_;
  bool counts_gpus_ = false;
  TraceHeader header_;
  SkippedRecords skipped_;
  TraceNames names_;
  std::uint64_t records_ = 0;
  std::uint64_t steps_ = 0;
  IdSet ids_;
  std::optional<TraceRecord> first_;  // read and not given out
};

}  // namespace muster::sim

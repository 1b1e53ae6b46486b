#pragma once

// The jobs of a trace in the order in which they arrive, each with what the simulation needs.
//
// Records that cannot be run are dropped and counted. A trace whose records stand in order of
// submission, as almost all do, is read as the simulation goes, and memory holds the jobs of one
// instant; otherwise Peek() fails with Aborted, and a second Arrivals with `sorted` set
// reads and sorts everything first. Thread promise: a value; one thread at a time. Invariants:
// jobs come in order of (submit, job id), or (submit, place in the file) where that is kept.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/simulator/readers/trace_reader.h"

namespace muster::sim {

enum class RecordFilter : std::uint8_t {
  kPlain = 0,  // run time or processors <= 0, or more processors than there are, are dropped
  // Gaussier, Glesser, Reis, Trystram, "Improving backfilling by using machine learning to predict
  // running times", SC'15: requested time <= 0 and submissions before 0 are dropped too.
  kSc15 = 1,
};

// The largest machine.
inline constexpr std::int64_t kProcessorsMax = 1'000'000'000;

struct TraceJob {
  std::int64_t id = 0;
  std::int64_t submit = 0;
  std::int64_t run_time = 0;        // the requested time at the most
  std::int64_t requested_time = 0;  // the run time where the trace names none
  std::int64_t processors = 0;
  std::int64_t user = -1;
  std::int64_t group = -1;
  std::int64_t partition = -1;
  std::int64_t queue = -1;
  std::int64_t gpus = 0;         // shares rounded up
  std::int64_t memory_mib = -1;  // all of the job's together; -1: not known
  std::int64_t gres = -1;        // countable things, a number of TraceNames; -1: none
  std::int64_t nodes = -1;       // that it had; -1: not known
  bool cut_off = false;          // it ran longer than it had asked for
};

struct DroppedRecords {
  std::uint64_t no_run_time = 0;
  std::uint64_t no_processors = 0;
  std::uint64_t too_large = 0;
  std::uint64_t no_requested_time = 0;  // kSc15
  std::uint64_t before_zero = 0;        // kSc15
  [[nodiscard]] std::uint64_t total() const {
    return no_run_time + no_processors + too_large + no_requested_time + before_zero;
  }
};

struct ArrivalOptions {
  std::int64_t processors = 0;
  RecordFilter filter = RecordFilter::kPlain;
  bool file_order = false;           // at one instant; else by job id
  bool sorted = false;               // read all, then sort
  bool gpus_stand_for_cpus = false;  // where a record names GPUs and no CPUs: one for each
};

class Arrivals {
 public:
  Arrivals(std::unique_ptr<TraceReader> reader, const ArrivalOptions& options);

  // The next job without taking it; nullptr at the end.
  absl::StatusOr<const TraceJob*> Peek();
  // REQUIRES: Peek() gave a job.
  void Pop() { ++next_; }

  [[nodiscard]] const DroppedRecords& dropped() const { return dropped_; }
  [[nodiscard]] const TraceReader& reader() const { return *reader_; }

 private:
  absl::StatusOr<bool> ReadJob(TraceJob* job);
  absl::Status ReadInstant();
  absl::Status ReadAll();
  bool MakeJob(const TraceRecord& record, TraceJob* job);
  [[nodiscard]] bool IsSc15Dropped(const TraceRecord& record);
  void SortById();

  std::unique_ptr<TraceReader> reader_;
  ArrivalOptions options_;
  DroppedRecords dropped_;
  std::vector<TraceJob> batch_;  // of one instant, or all of them
  std::size_t next_ = 0;         // in batch_
  TraceJob ahead_;               // the first of the next instant
  bool has_ahead_ = false;
  bool begun_ = false;
};

}  // namespace muster::sim

#pragma once

// A trace on a machine of identical processors, instant by instant, under a policy of core's.
//
// The loop is all that is here: which arrivals and ends the queue hears of, in which order, and
// which jobs then start. Every job that ends is handed to the observer at once and forgotten, so
// that memory goes with the jobs that wait or run. Thread promise: one thread; two simulations
// share nothing but the file. Invariants: the same trace and options give the same rows in the same
// order on every machine and build.

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/simulator/decision_log.h"
#include "scheduler/simulator/flat/flat_policy.h"
#include "scheduler/simulator/readers/trace_format.h"
#include "scheduler/simulator/schedule/schedule_row.h"
#include "scheduler/simulator/workload/arrivals.h"

namespace muster::sim {

// What the scheduler knows of how long a job will run.
enum class Estimates : std::uint8_t {
  kRequested = 0,
  kExact = 1,
  kDouble = 2,   // twice what was requested
  kLastTwo = 3,  // core/prompt/run_time_prediction.h
  kLearned = 4,  // core/prompt/run_time_estimates.h
};

// True when a job may outlive its estimate.
constexpr bool FallShort(Estimates estimates) {
  return estimates == Estimates::kLastTwo || estimates == Estimates::kLearned;
}

// What comes first at one instant.
enum class InstantOrder : std::uint8_t {
  kEndsFirst = 0,    // all ends, then all arrivals, then one cycle
  kSubmitFirst = 1,  // each arrival, then each end, a cycle after each
};

struct FlatRun {
  std::string trace;
  std::optional<TraceFormat> format;  // else it is recognised
  TraceUnit unit = TraceUnit::kUsual;
  std::int64_t processors = 0;  // 0: what the trace's header says (MaxProcs)
  FlatPolicy policy;
  Estimates estimates = Estimates::kRequested;
  InstantOrder instant = InstantOrder::kEndsFirst;
  RecordFilter filter = RecordFilter::kPlain;
  bool lenient = false;
  bool with_processors = false;      // rows say which processors a job had
  DecisionLog* decisions = nullptr;  // of the caller: decisions come from there and go there
};

struct FlatProgress {
  std::uint64_t bytes = 0;         // of the trace's file
  std::uint64_t bytes_in_all = 0;  // 0: not known
  std::uint64_t arrived = 0;
  std::uint64_t ended = 0;
  std::int64_t now = 0;  // the trace's time
};

class FlatObserver {
 public:
  FlatObserver() = default;
  FlatObserver(const FlatObserver&) = delete;
  FlatObserver& operator=(const FlatObserver&) = delete;
  virtual ~FlatObserver() = default;

  // The simulation begins; or begins again, because the trace turned out not to be sorted, and all
  // rows before are void.
  virtual absl::Status Begin(std::int64_t processors) = 0;
  // A job has ended. Rows come in order of end, then of start.
  virtual absl::Status Ended(const ScheduleRow& row) = 0;
  // Asked every few thousand instants; false stops the simulation there.
  virtual bool KeepGoing(const FlatProgress& progress) = 0;
};

struct FlatResult {
  std::int64_t processors = 0;
  std::uint64_t records = 0;  // in the trace
  std::uint64_t jobs = 0;     // that arrived
  std::uint64_t ended = 0;
  DroppedRecords dropped;
  SkippedRecords skipped;
  bool complete = true;  // false: stopped by the observer
  std::int64_t now = 0;  // where it stopped
  std::uint64_t longest_queue = 0;
  std::optional<std::int64_t> unix_start;  // of the trace's time 0
  TraceNames names;                        // of the users, groups and partitions of the rows
};

absl::StatusOr<FlatResult> SimulateFlat(const FlatRun& run, FlatObserver& observer);

// The rules word for word, as --help and the manual print them.
const char* FlatSemantics();

}  // namespace muster::sim

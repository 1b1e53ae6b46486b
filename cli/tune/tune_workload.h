#pragma once

// The jobs on which settings are tried: the last days of a trace, or what a controller remembers.
//
// They are written to a file of their own, in the Standard Workload Format, which goes with the
// object: a search reads it a hundred times. Thread promise: a value; read from any thread once
// made. Invariants: ids and users are the trace's.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "cli/controller/connection.h"
#include "cli/frame/result_file.h"
#include "scheduler/simulator/readers/trace_format.h"

namespace muster::cli {

struct TuneWorkload {
  std::string name;  // as it was given
  std::unique_ptr<ResultFile> file;
  std::int64_t processors = 0;
  std::uint64_t jobs = 0;
  std::int64_t first = 0;  // submission, s; so is the next
  std::int64_t last = 0;
  std::int64_t split = 0;   // those submitted before it are trained on
  std::uint64_t print = 0;  // of the file's content
  sim::TraceNames names;    // of the users
};

// The jobs of the last `days` days (0: all) that have a run time. `processors` is 0 where the trace
// says how many there are.
absl::StatusOr<TuneWorkload> WorkloadOfTrace(const sim::TraceOptions& trace, std::int64_t days,
                                             std::int64_t processors);
// Those that the controller's accounting lists; processors are the hardware threads of its nodes.
absl::StatusOr<TuneWorkload> WorkloadOfHistory(const std::string& name, Connection& connection,
                                               std::int64_t days, std::int64_t processors);

}  // namespace muster::cli

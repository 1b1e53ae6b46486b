#pragma once

// Which format a trace has, by what stands at its beginning, and a reader for it.
//
// Recognised: a first line that begins with ';', or of blank-separated numbers (Standard Workload
// Format); '{' (Batsim); a line of column names that has those of a format of table_formats.h.
// Where the content tells nothing, the extension .swf or .json does.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "scheduler/simulator/readers/trace_reader.h"

namespace muster::sim {

// What a processor of the records is.
enum class TraceUnit : std::uint8_t {
  kUsual = 0,  // a GPU in traces of GPU clusters, else a CPU
  kCpus = 1,
  kGpus = 2,
};

struct TraceOptions {
  std::string path;
  std::optional<TraceFormat> format;  // else it is recognised
  TraceUnit unit = TraceUnit::kUsual;
  bool lenient = false;
};

// usual, cpus, gpus.
absl::StatusOr<TraceUnit> ParseTraceUnit(const std::string& name);
const char* Name(TraceUnit unit);

struct OpenedTrace {
  std::unique_ptr<TraceReader> reader;
  TraceFormat format = TraceFormat::kSwf;
  bool counts_gpus = false;
};

absl::StatusOr<OpenedTrace> OpenTrace(const TraceOptions& options);

}  // namespace muster::sim

#include "cli/trace_options.h"

#include "cli/parse/number.h"
#include "scheduler/base/status.h"
#include "scheduler/simulator/arrivals.h"

namespace muster {

Option MakeOption(const char* name, const char* metavar, const char* text) {
  return {.name = name, .letter = 0, .metavar = metavar, .text = text};
}

std::vector<Option> TraceOptionTable() {
  return {
      MakeOption("format", "NAME",
                 "swf, sacct, batsim, openb, philly, tiresias, dlrm, csv or jobs-csv (default: "
                 "recognised)"),
      MakeOption("unit", "WHAT",
                 "What a processor is: cpus, gpus or usual (GPUs in GPU traces; the default)"),
      MakeOption("lenient", "", "Leave broken records out and count them"),
  };
}

absl::StatusOr<TraceOptions> ReadTraceOptions(const Invocation& invocation,
                                              const std::string& path) {
  TraceOptions options{.path = path, .format = {}, .unit = TraceUnit::kUsual, .lenient = false};
  TraceFormat format = TraceFormat::kSwf;
  RETURN_IF_ERROR(ReadOption(invocation, "format", ParseTraceFormat, &format));
  if (invocation.Has("format")) {
    options.format = format;
  }
  RETURN_IF_ERROR(ReadOption(invocation, "unit", ParseTraceUnit, &options.unit));
  options.lenient = invocation.Has("lenient");
  return options;
}

absl::StatusOr<std::int64_t> ParseProcessors(const std::string& text) {
  const absl::StatusOr<std::uint64_t> count = ParseDigits(text, kProcessorsMax);
  if (!count.ok() || *count == 0) {
    return absl::InvalidArgumentError(absl::StrCat(Quote(text),
                                                   " is not a number of processors: "
                                                   "a whole number from 1 to ",
                                                   kProcessorsMax));
  }
  return static_cast<std::int64_t>(*count);
}

}  // namespace muster

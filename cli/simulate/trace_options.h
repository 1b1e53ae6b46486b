#pragma once

// The options of every verb that reads a workload trace: its format, what a processor is, how many.
//
// InvalidArgument names the option and the mend.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cli/frame/verb.h"
#include "scheduler/simulator/readers/trace_format.h"

namespace muster::cli {

// Reads --NAME into `*value` if it was given; an error gets the option in front.
template <class T>
absl::Status ReadOption(const Invocation& invocation, const std::string& name,
                        absl::StatusOr<T> (*parse)(const std::string&), T* value) {
  if (!invocation.Has(name)) {
    return absl::OkStatus();
  }
  const absl::StatusOr<T> read = parse(invocation.Value(name));
  if (!read.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, ": ", std::string(read.status().message())));
  }
  *value = *read;
  return absl::OkStatus();
}

Option MakeOption(const char* name, const char* metavar, const std::string& text);

// --format, --unit, --lenient.
std::vector<Option> TraceOptionTable();
absl::StatusOr<sim::TraceOptions> ReadTraceOptions(const Invocation& invocation,
                                                   const std::string& path);

// From 1 to kProcessorsMax.
absl::StatusOr<std::int64_t> ParseProcessors(const std::string& text);

}  // namespace muster::cli

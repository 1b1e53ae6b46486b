// Directives and the options in them: lines ascend, every error is one line.
// Returns 1 when an invariant of the parser is broken; crashes are the sanitizers' to find.

#include <cstdint>
#include <string>

#include "cli/parse/request/directives.h"
#include "cli/request/job_options.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<std::vector<muster::cli::DirectiveLine>> lines =
      muster::cli::ParseDirectives(text);
  if (!lines.ok()) {
    return lines.status().message().find(static_cast<char>(10)) == std::string::npos ? 0 : 1;
  }
  int last = 0;
  for (const muster::cli::DirectiveLine& line : *lines) {
    if (line.line <= last || line.words.empty()) {
      return 1;
    }
    last = line.line;
  }
  const auto given = muster::cli::ReadDirectives(*lines, "job.sh");
  if (!given.ok()) {
    return given.status().message().find(static_cast<char>(10)) == std::string::npos ? 0 : 1;
  }
  const muster::cli::ParseContext context{
      .now = muster::Time(std::chrono::milliseconds(1773480413000)), .zone = absl::UTCTimeZone()};
  const auto request =
      muster::cli::ReadJobOptions({}, *given, muster::cli::JobVerb::kSubmit, context);
  const bool one_line = request.status().message().find(static_cast<char>(10)) == std::string::npos;
  return one_line ? 0 : 1;
}

#include "scheduler/simulator/workload/failure_log.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/simulator/readers/line_reader.h"
#include "scheduler/simulator/readers/number_text.h"

namespace muster::sim {
namespace {

constexpr const char* kColumns = "time,node,repair";
constexpr std::size_t kFailuresMax = 50'000'000;

absl::Status Bad(const std::string& path, const Line& line, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ":", line.number, ": ", what));
}

// False when it is not three fields with whole seconds that are not negative.
bool ReadFailure(std::string_view text, LoggedFailure* failure) {
  std::array<std::string_view, 3> fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::size_t comma = i + 1 < fields.size() ? text.find(',') : text.size();
    if (comma == std::string_view::npos) {
      return false;
    }
    fields.at(i) = Trimmed(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  failure->node = std::string(fields[1]);
  return !failure->node.empty() && ReadWhole(fields[0], &failure->time) && failure->time >= 0 &&
         ReadWhole(fields[2], &failure->repair) && failure->repair >= 0;
}

}  // namespace

absl::StatusOr<std::vector<LoggedFailure>> ReadFailureLog(const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, ByteSource::Open(path));
  LineReader lines(std::move(source));
  std::vector<LoggedFailure> failures;
  Line line;
  ASSIGN_OR_RETURN(const bool any, lines.Next(&line));
  if (!any || line.text != kColumns) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ":1: no log of failures: begin it with the line ", kColumns));
  }
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, lines.Next(&line));
    if (!more) {
      return failures;
    }
    LoggedFailure failure;
    if (line.too_long || !ReadFailure(line.text, &failure)) {
      return Bad(path, line,
                 absl::StrCat(Shown(line.text),
                              " is not time,node,repair in whole seconds: mend the line"));
    }
    if (failures.size() >= kFailuresMax) {
      return Bad(path, line, "too many failures: cut the log");
    }
    failures.push_back(std::move(failure));
  }
}

}  // namespace muster::sim

#pragma once

// What an attempt's programs said here, and what is wrong with it, in a file of the attempt's
// directory: a line each.
//
//   v NAME LAST TIME COUNT
//   f RULE SINCE TEXT…
//   m PID STEP TIME            the newest step that this process said
//
// The supervisor writes it, the agent reads it. Invariants: a reader sees one state whole; what is
// no such line is left out; at most kReportedBytesMax bytes are read.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/model/value/time.h"

namespace muster::agent {

inline constexpr std::size_t kReportedBytesMax = std::size_t{64} << 10;

struct ReportedValue {
  std::string name;
  double last = 0;
  Time time = kNoTime;
  std::uint64_t count = 0;
};
struct ReportedFinding {
  std::string rule;
  std::string text;
  Time since = kNoTime;
};
struct ReportedMark {
  pid_t pid = 0;
  double step = 0;
  Time time = kNoTime;
};
struct ReportedValues {
  std::vector<ReportedValue> values;
  std::vector<ReportedFinding> findings;
  std::vector<ReportedMark> marks;
};

std::string PrintReported(const ReportedValues& reported);
ReportedValues ParseReported(std::string_view text);

absl::Status WriteReported(const std::string& path, const ReportedValues& reported);
// Nothing where there is no such file.
ReportedValues ReadReported(const std::string& path);

}  // namespace muster::agent

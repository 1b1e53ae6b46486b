#pragma once

// What an attempt's programs said here, and what is wrong with it, in a file of the attempt's
// directory: a line each.
//
//   v NAME LAST TIME COUNT
//   f RULE SINCE TEXT…
//   m PID STEP TIME            the newest step that this process said
//   r STEP_ID RANK STEP TIME   the newest step that a process said for this rank
//
// The supervisor writes it, the agent reads it. Invariants: a reader sees one state whole; what is
// no such line is left out; at most kReportedBytesMax bytes are read.

#include <sys/types.h>

#include <compare>
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
// Who says a step: a rank of a step of the job, where the words name it, else a process.
struct Teller {
  std::uint32_t step_id = 0;  // 0: no rank is named
  std::uint32_t rank = 0;
  pid_t pid = 0;  // where none is named
  friend auto operator<=>(const Teller&, const Teller&) = default;
};
struct ReportedMark {
  Teller teller;
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

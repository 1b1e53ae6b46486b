#pragma once

// Moments that come again: the lines of cron, and how people say them.
//
// Pure. Source of the five fields: POSIX.1-2017, crontab(1), with the names of months and days, and
// steps, of Vixie's cron. Invariants: Next is later than what it is given; Recurrence::Parse reads
// what RecurrenceFields wrote.

#include <bitset>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "scheduler/base/text/zone_rule.h"

namespace muster {

class Recurrence {
 public:
  // In a zone's local time: "FIELDS;ZONE", as "30 3 * * 1-5;CET-1CEST,M3.5.0,M10.5.0/3"; without a
  // zone UTC. An error names the field.
  static absl::StatusOr<Recurrence> Parse(const std::string& text);

  // The first moment after `time`; nothing when none comes within eight years.
  [[nodiscard]] std::optional<std::chrono::sys_seconds> Next(std::chrono::sys_seconds time) const;

 private:
  static constexpr std::size_t kMost = 60;
  using Set = std::bitset<kMost>;
  [[nodiscard]] bool Has(std::chrono::local_days day) const;

  Set minutes_;
  Set hours_;
  Set days_;
  Set months_;
  Set weekdays_;             // 0: Sunday
  bool either_day_ = false;  // one of days_ or one of weekdays_, not both
  ZoneRule zone_;
};

// The five fields of what a person wrote: "Mon 03:00", "Mon-Fri 8:30", "03:00" (every day), "hour",
// "15m", "6h", "month 03:00", "@daily", or the fields themselves. An error says how to write it.
absl::StatusOr<std::string> RecurrenceFields(const std::string& text);

}  // namespace muster

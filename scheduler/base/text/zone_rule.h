#pragma once

// The rule by which a place's clocks are set, as the variable TZ holds it.
//
// Pure: no file of a time zone database is read. Source: POSIX.1-2017, Base Definitions, section
// 8.3 (TZ), with the hours from -167 to 167 of RFC 8536, section 3.3.1. Invariant: SystemTimeOf of
// a local time that clocks show twice is the first of the two; of one that they leave out, as much
// later as they are set forward.

#include <chrono>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace muster {

class ZoneRule {
 public:
  using Seconds = std::chrono::sys_seconds;
  using Local = std::chrono::local_seconds;

  // UTC.
  ZoneRule() = default;
  // "CET-1CEST,M3.5.0,M10.5.0/3", "<+0530>-5:30", "UTC0". An error says what is wrong.
  static absl::StatusOr<ZoneRule> Parse(const std::string& text);

  [[nodiscard]] Local LocalTimeOf(Seconds time) const;
  [[nodiscard]] Seconds SystemTimeOf(Local time) const;

 private:
  // A day of each year and a moment of it.
  struct Change {
    enum class Kind { kWeekday, kDayWithoutLeap, kDay };
    Kind kind = Kind::kWeekday;
    unsigned month = 0;
    unsigned week = 0;  // 5: the last
    unsigned day = 0;   // of the week, 0: Sunday; or of the year
    std::chrono::seconds time{7200};
    [[nodiscard]] Local In(std::chrono::year year) const;
  };
  struct Summer {
    std::chrono::seconds offset{0};
    Change begins;
    Change ends;
  };
  class Reader;
  [[nodiscard]] std::chrono::seconds OffsetAt(Seconds time) const;

  std::chrono::seconds offset_{0};  // east of Greenwich
  std::optional<Summer> summer_;
};

}  // namespace muster

#pragma once

// Which lines of an output are shown: the first ones, and those since a moment.
//
// Text comes in pieces that may end anywhere, also within a line or a character. Pure. Invariants:
// (1) what is let through is let through as it is, byte for byte; (2) no piece is kept but the
// beginning of a line that is not judged yet, of at most kStampBytes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

// The moment with which a line of a log begins: "2026-03-14 09:26:53,589" and the like, with `T` or
// a blank, parts of a second or none, `Z` or an offset or the local time of `zone`, after a bracket
// or none. Nothing when it begins otherwise.
std::optional<Time> TimeOfLine(std::string_view line, absl::TimeZone zone);

// As many bytes as such a moment takes at most.
inline constexpr std::size_t kStampBytes = 48;

// Lets the first `lines` lines through; without a number all.
class FirstLines {
 public:
  explicit FirstLines(std::optional<std::uint64_t> lines) : left_(lines) {}
  // As much of the piece as is let through.
  std::string_view Take(std::string_view piece);
  [[nodiscard]] bool done() const { return left_ == 0U; }

 private:
  std::optional<std::uint64_t> left_;
};

// Lets through what comes from the first line on that is as young as `since`; without a moment all.
class LinesSince {
 public:
  LinesSince(std::optional<Time> since, absl::TimeZone zone)
      : since_(since), zone_(zone), open_(!since.has_value()) {}
  std::string Take(std::string_view piece);
  // The output has ended: the line that is not judged yet is whole.
  std::string Finish();
  // Whether any line said when it was written.
  [[nodiscard]] bool saw_time() const { return saw_time_; }

 private:
  bool IsYoung(std::string_view line);

  const std::optional<Time> since_;
  const absl::TimeZone zone_;
  bool open_;
  bool saw_time_ = false;
  bool skips_ = false;  // the rest of a line that is too old
  std::string begun_;   // a line that has only begun
};

}  // namespace muster::cli

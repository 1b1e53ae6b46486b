#include "cli/live/line_window.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace muster::cli {
namespace {

constexpr std::size_t kMomentBytes = 19;  // "2026-03-14T09:26:53"

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// "2026-03-14T09:26:53", or with a blank in the middle.
bool LooksLikeMoment(std::string_view text) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00";
  if (text.size() < kShape.size()) {
    return false;
  }
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    const bool fits = kShape[i] == '0'   ? IsDigit(text[i])
                      : kShape[i] == 'T' ? text[i] == 'T' || text[i] == ' '
                                         : text[i] == kShape[i];
    if (!fits) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<Time> TimeOfLine(std::string_view line, absl::TimeZone zone) {
  if (!line.empty() && line.front() == '[') {
    line.remove_prefix(1);
  }
  if (!LooksLikeMoment(line)) {
    return std::nullopt;
  }
  std::string moment(line.substr(0, kMomentBytes));
  moment[10] = 'T';
  std::size_t at = kMomentBytes;
  if (at + 1 < line.size() && (line[at] == '.' || line[at] == ',') && IsDigit(line[at + 1])) {
    moment += '.';
    for (++at; at < line.size() && IsDigit(line[at]); ++at) {
      moment += line[at];
    }
  }
  absl::Time time;
  std::string error;
  const std::string_view offset = line.substr(std::min(at, line.size()), 6);
  if (!offset.empty() && (offset[0] == 'Z' || offset[0] == '+' || offset[0] == '-')) {
    const std::string with = absl::StrCat(moment, offset[0] == 'Z' ? "Z" : std::string(offset));
    if (absl::ParseTime(absl::RFC3339_full, with, &time, &error)) {
      return Time(Duration(absl::ToUnixMillis(time)));
    }
  }
  return absl::ParseTime("%Y-%m-%dT%H:%M:%E*S", moment, zone, &time, &error)
             ? std::optional(Time(Duration(absl::ToUnixMillis(time))))
             : std::nullopt;
}

std::string_view FirstLines::Take(std::string_view piece) {
  if (!left_.has_value()) {
    return piece;
  }
  std::size_t end = 0;
  while (*left_ > 0 && end < piece.size()) {
    const std::size_t line = piece.find('\n', end);
    if (line == std::string_view::npos) {
      return piece;
    }
    end = line + 1;
    --*left_;
  }
  return piece.substr(0, end);
}

bool LinesSince::IsYoung(std::string_view line) {
  const std::optional<Time> time = TimeOfLine(line, zone_);
  saw_time_ = saw_time_ || time.has_value();
  return time.has_value() && *time >= *since_;
}

std::string LinesSince::Take(std::string_view piece) {
  std::string text = std::move(begun_);
  begun_.clear();
  text.append(piece);
  std::size_t at = 0;
  while (!open_ && at < text.size()) {
    const std::size_t end = text.find('\n', at);
    const bool whole = end != std::string::npos;
    const std::string_view line(text.data() + at, (whole ? end : text.size()) - at);
    if (!skips_ && !whole && line.size() < kStampBytes) {
      begun_ = std::string(line);
      return "";
    }
    if (!skips_ && IsYoung(line)) {
      open_ = true;
      break;
    }
    skips_ = !whole;
    at = whole ? end + 1 : text.size();
  }
  return open_ ? text.substr(at) : "";
}

std::string LinesSince::Finish() {
  if (!open_ && !begun_.empty() && IsYoung(begun_)) {
    open_ = true;
    return std::move(begun_);
  }
  return "";
}

}  // namespace muster::cli

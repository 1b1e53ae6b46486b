#include "cli/request/slurm_values.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/runtime/file.h"

namespace muster::cli {
namespace {

using Pieces = std::vector<std::string>;

bool IsDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string TwoDigits(std::string_view text) {
  return text.size() == 1 ? absl::StrCat("0", std::string(text)) : std::string(text);
}

// "MM/DD[/YY]" and "MMDDYY" as YYYY-MM-DD; "" for what is neither.
std::string Day(const std::string& text) {
  Pieces parts = absl::StrSplit(text, absl::ByAnyChar("/."));
  if (parts.size() == 1 && text.size() == 6 && IsDigits(text)) {
    parts = {text.substr(0, 2), text.substr(2, 2), text.substr(4)};
  }
  if (parts.size() != 3 || !std::all_of(parts.begin(), parts.end(), IsDigits) ||
      parts[2].size() != 2) {
    return "";
  }
  return absl::StrCat("20", parts[2], "-", TwoDigits(parts[0]), "-", TwoDigits(parts[1]));
}

// "9:30", "4PM" and names of times of the day as HH:MM[:SS]; else as it is.
std::string ClockTime(std::string text) {
  constexpr std::array<std::array<std::string_view, 2>, 3> kNames = {
      {{"fika", "15:00"}, {"teatime", "16:00"}, {"elevenses", "11:00"}}};
  for (const auto& [name, time] : kNames) {
    if (text == name) {
      return std::string(time);
    }
  }
  const std::string lower = absl::AsciiStrToLower(text);
  const bool half = lower.size() > 2 && lower.back() == 'm' &&
                    (lower[lower.size() - 2] == 'a' || lower[lower.size() - 2] == 'p');
  if (half) {
    text = std::string(absl::StripAsciiWhitespace(text.substr(0, text.size() - 2)));
  }
  Pieces parts = absl::StrSplit(text, ':');
  if (half && parts.size() == 1) {
    parts.emplace_back("00");
  }
  if (parts.size() < 2 || parts.size() > 3 || !std::all_of(parts.begin(), parts.end(), IsDigits) ||
      parts[0].size() > 2) {
    return half ? lower : text;
  }
  if (half) {
    const int hour = std::stoi(parts[0]) % 12 + (lower[lower.size() - 2] == 'p' ? 12 : 0);
    parts[0] = absl::StrCat(hour);
  }
  std::transform(parts.begin(), parts.end(), parts.begin(), TwoDigits);
  return absl::StrJoin(parts, ":");
}

// Whether `word` only asks how much is told: any beginning of quiet and verbose.
bool IsTalk(const std::string& word) {
  const std::string lower = absl::AsciiStrToLower(word);
  return !lower.empty() && (std::string_view("quiet").substr(0, lower.size()) == lower ||
                            std::string_view("verbose").substr(0, lower.size()) == lower);
}

}  // namespace

std::string SlurmTimeLimit(const std::string& value) {
  if (value == "-1") {
    return "UNLIMITED";
  }
  const std::optional<std::chrono::seconds> limit = ReadClock(value, ClockParts::kAny);
  if (!limit.has_value()) {
    return value;
  }
  return limit->count() == 0 ? "UNLIMITED" : FormatTimeLimit(*limit);
}

std::string SlurmSize(const std::string& value) {
  const std::size_t size = value.size();
  const bool byte = size > 2 && (value[size - 1] == 'B' || value[size - 1] == 'b') &&
                    absl::ascii_isalpha(static_cast<unsigned char>(value[size - 2]));
  return byte ? value.substr(0, size - 1) : value;
}

std::string SlurmMoment(const std::string& value) {
  const std::size_t middle = value.find_first_of("T-", 0);
  if (middle != std::string::npos && value[middle] == 'T' &&
      !Day(value.substr(0, middle)).empty()) {
    return absl::StrCat(Day(value.substr(0, middle)), "T", ClockTime(value.substr(middle + 1)));
  }
  const std::string day = Day(value);
  return day.empty() ? ClockTime(value) : day;
}

std::string SlurmBinding(const std::string& value) {
  Pieces kept;
  bool listing = false;  // what follows map_cpu: are numbers of its list
  for (std::string& piece : Pieces(absl::StrSplit(value, ','))) {
    const bool only_talk = !listing && (IsTalk(piece) || piece == "sort" || piece == "nosort" ||
                                        piece == "prefer" || piece == "p");
    if (!only_talk && !piece.empty()) {
      listing = listing || piece.find(':') != std::string::npos;
      kept.push_back(std::move(piece));
    }
  }
  return absl::StrJoin(kept, ",");
}

std::string SlurmDistribution(const std::string& value) {
  const Pieces levels = absl::StrSplit(value.substr(0, value.find(',')), ':');
  return levels.size() > 2 ? absl::StrCat(levels[0], ":", levels[1]) : absl::StrJoin(levels, ":");
}

std::string SlurmNodeFile(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) {
    return path;
  }
  const Pieces names = absl::StrSplit(*text, absl::ByAnyChar(" ,\t\r\n"), absl::SkipEmpty());
  return absl::StrJoin(names, ",");
}

std::string SlurmNodes(const std::string& value) {
  return value.find('/') == std::string::npos ? value : SlurmNodeFile(value);
}

}  // namespace muster::cli

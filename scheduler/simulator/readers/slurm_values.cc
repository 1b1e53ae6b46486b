#include "scheduler/simulator/readers/slurm_values.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/time/civil_time.h"
#include "scheduler/base/contains.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/simulator/readers/number_text.h"
#include "scheduler/simulator/readers/trace_reader.h"

namespace muster::sim {
namespace {

constexpr std::int64_t kTasksMax = 1'000'000;

// A number without a sign, of one to `digits_max` digits.
bool ReadDigits(std::string_view text, std::size_t digits_max, std::int64_t* number) {
  return text.size() <= digits_max && !text.empty() && text.front() != '-' &&
         ReadWhole(text, number);
}

// What stands before `mark`, which is taken off with it; false without a mark.
bool TakeBefore(std::string_view* text, char mark, std::string_view* before) {
  const std::size_t at = text->find(mark);
  if (at == std::string_view::npos) {
    return false;
  }
  *before = text->substr(0, at);
  text->remove_prefix(at + 1);
  return true;
}

// The entry before the next comma, or the rest.
std::string_view TakeEntry(std::string_view* text) {
  std::string_view entry;
  if (!TakeBefore(text, ',', &entry)) {
    entry = std::exchange(*text, {});
  }
  return entry;
}

}  // namespace

bool ReadSlurmTime(std::string_view text, std::int64_t* seconds) {
  constexpr std::array<std::string_view, 4> kNone = {"Unknown", "None", "N/A", "NONE"};
  if (Contains(kNone, text)) {
    *seconds = -1;
    return true;
  }
  if (ReadDigits(text, 12, seconds)) {
    return true;
  }
  absl::CivilSecond when;
  if (text.size() != 19 || text[4] != '-' || text[10] != 'T' ||
      !absl::ParseCivilTime(absl::string_view(text.data(), text.size()), &when)) {
    return false;
  }
  *seconds = when - absl::CivilSecond(1970, 1, 1);
  return *seconds >= 0;
}

bool ReadSlurmDuration(std::string_view text, std::int64_t* seconds) {
  constexpr std::array<std::string_view, 4> kNone = {"UNLIMITED", "Partition_Limit", "INVALID",
                                                     "Unknown"};
  if (Contains(kNone, text)) {
    *seconds = -1;
    return true;
  }
  text = text.substr(0, text.find('.'));
  const std::optional<std::chrono::seconds> clock = ReadClock(text, ClockParts::kAny);
  if (!clock.has_value() || text.find(':') == std::string_view::npos) {
    return false;  // sacct writes at least minutes and seconds
  }
  *seconds = clock->count();
  return *seconds <= kTraceTimeMax;
}

bool ReadSlurmGpus(std::string_view text, std::int64_t* gpu_milli) {
  std::int64_t untyped = -1;
  std::int64_t typed = -1;
  while (!text.empty()) {
    std::string_view entry = TakeEntry(&text);
    std::string_view name;
    if (!TakeBefore(&entry, '=', &name)) {
      return false;
    }
    std::int64_t count = 0;
    const bool is_gpu = name.substr(0, 8) == "gres/gpu" && (name.size() == 8 || name[8] == ':');
    if (is_gpu && !ReadDigits(entry, 9, &count)) {
      return false;
    }
    if (is_gpu) {
      (name.size() == 8 ? untyped : typed) =
          name.size() == 8 ? count : std::max<std::int64_t>(typed, 0) + count;
    }
  }
  const std::int64_t count = untyped >= 0 ? untyped : typed;
  *gpu_milli = count < 0 ? -1 : count * 1000;
  return count <= kTraceCountMax;
}

std::string SlurmGres(std::string_view text) {
  constexpr std::string_view kPrefix = "gres/";
  std::string gres;
  while (!text.empty()) {
    std::string_view entry = TakeEntry(&text);
    std::string_view name;
    if (!TakeBefore(&entry, '=', &name) || name.substr(0, kPrefix.size()) != kPrefix) {
      continue;
    }
    name = name.substr(kPrefix.size());
    name = name.substr(0, name.find(':'));
    if (name != "gpu" && !name.empty()) {
      gres.append(gres.empty() ? "" : ",").append(name).append(":").append(entry);
    }
  }
  return gres;
}

std::int64_t SlurmStatus(std::string_view text) {
  constexpr std::array<std::string_view, 7> kGoing = {
      "PENDING", "RUNNING", "SUSPENDED", "REQUEUED", "COMPLETING", "CONFIGURING", "RESIZING"};
  const std::string_view word = text.substr(0, text.find_first_of(" +"));
  if (word == "COMPLETED") {
    return 1;
  }
  if (word == "CANCELLED") {
    return 5;
  }
  return Contains(kGoing, word) ? -1 : 0;
}

bool ReadSlurmJobId(std::string_view text, std::int64_t* id, bool* is_step) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view rest = text.substr(digits);
  if (!ReadDigits(text.substr(0, digits), 9, id)) {
    return false;
  }
  std::int64_t part = 0;
  if (rest.find('.') != std::string_view::npos || rest.substr(0, 2) == "_[") {
    *is_step = true;
    return true;
  }
  if (rest.empty()) {
    return true;
  }
  if (!ReadDigits(rest.substr(1), 6, &part)) {
    return false;
  }
  *id = rest.front() == '_' ? *id * kTasksMax + part : *id + part;
  return rest.front() == '_' || rest.front() == '+';
}

}  // namespace muster::sim

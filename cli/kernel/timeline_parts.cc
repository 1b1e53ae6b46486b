#include "cli/kernel/timeline_parts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

constexpr std::int64_t kFirstPid = 1'000'000;       // above the ranks that are pids themselves
constexpr std::uint64_t kFlowsOfPart = 1ULL << 40;  // ids of one file are below that
constexpr std::int64_t kProcessesOfRank = 1'000;    // between the places of two ranks
constexpr std::int64_t kNanosecondsOfMicrosecond = 1'000;
constexpr double kClockLeast = 1e15;  // microseconds since 1970: what is less is no wall clock

constexpr std::int64_t kNoBase = std::numeric_limits<std::int64_t>::max();

// The earliest of all, kNoBase where there is none, so that no ts becomes negative; or of those
// that have a clock.
std::int64_t CommonBase(const std::vector<TimelinePart>& parts, bool clocked = false) {
  std::int64_t base = kNoBase;
  for (const TimelinePart& part : parts) {
    if (clocked && !part.clocked) {
      continue;
    }
    if (part.profiler) {
      base = std::min(base, part.base);
      continue;
    }
    for (const Json& event : part.events) {
      if (event.is_object() && IsNumber(event, "ts")) {
        base = std::min(base, static_cast<std::int64_t>(std::floor(event["ts"].get<double>())) *
                                  kNanosecondsOfMicrosecond);
      }
    }
  }
  return base;
}

// The ends of its collectives in their order, in nanoseconds by its own ts, and what they are.
struct Collectives {
  std::vector<std::string> names;
  std::vector<std::int64_t> ends;
};
Collectives CollectivesOf(const TimelinePart& part) {
  std::vector<std::pair<double, std::string>> found;
  for (const Json& event : part.events) {
    if (event.is_object() && IsOnGpu(event) && IsCommunication(event) &&
        !absl::StrContains(TextIn(event, "name"), "SendRecv")) {
      found.emplace_back(event["ts"].get<double>() + event["dur"].get<double>(),
                         TextIn(event, "name"));
    }
  }
  std::sort(found.begin(), found.end());
  Collectives collectives;
  for (auto& [end, name] : found) {
    collectives.ends.push_back(
        static_cast<std::int64_t>(std::llround(end * kNanosecondsOfMicrosecond)));
    collectives.names.push_back(std::move(name));
  }
  return collectives;
}

// How much later than by their own ts the collectives of one ended by those of the other.
std::optional<std::int64_t> Later(const Collectives& one, const Collectives& other) {
  if (one.names.empty() || one.names != other.names) {
    return std::nullopt;
  }
  std::vector<std::int64_t> differences;
  for (std::size_t i = 0; i < one.ends.size(); ++i) {
    differences.push_back(other.ends[i] - one.ends[i]);
  }
  const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
  std::nth_element(differences.begin(), middle, differences.end());
  return *middle;
}

// Gives those without a clock the base that their collectives say.
void FindBases(std::vector<TimelinePart>* parts) {
  std::vector<std::pair<Collectives, std::int64_t>> placed;  // and their base
  for (const TimelinePart& part : *parts) {
    if (part.profiler && part.clocked) {
      placed.emplace_back(CollectivesOf(part), part.base);
    }
  }
  const std::int64_t earliest = CommonBase(*parts, /*clocked=*/true);
  bool any = earliest != kNoBase;
  const std::int64_t begin = any ? earliest : 0;
  for (TimelinePart& part : *parts) {
    if (part.clocked) {
      continue;
    }
    Collectives own = CollectivesOf(part);
    std::optional<std::int64_t> later;
    for (const auto& [collectives, base] : placed) {
      if (later = Later(own, collectives); later.has_value()) {
        part.base = base + *later;
        break;
      }
    }
    part.unaligned = any && !later.has_value();
    part.base = later.has_value() ? part.base : begin;
    any = true;
    placed.emplace_back(std::move(own), part.base);
  }
}

Json Metadata(const char* name, const Json& pid, const char* key, Json value) {
  return {{"name", name}, {"ph", "M"}, {"pid", pid}, {"tid", 0}, {"args", {{key, value}}}};
}

// Pids that no two ranks share, and where their processes stand.
class Processes {
 public:
  // The pid of what is called `pid` in a trace of a profiler's, and whether it is new.
  std::pair<std::int64_t, bool> PidOf(int rank, const std::string& pid) {
    const auto [found, added] = pids_.try_emplace({rank, pid}, kFirstPid + Count());
    if (added) {
      places_[found->second] = rank * kProcessesOfRank + ++of_rank_[rank];
    }
    return {found->second, added};
  }
  [[nodiscard]] std::int64_t PlaceOf(std::int64_t pid) const { return places_.at(pid); }

 private:
  [[nodiscard]] std::int64_t Count() const { return static_cast<std::int64_t>(pids_.size()); }

  std::map<std::pair<int, std::string>, std::int64_t> pids_;
  std::map<std::int64_t, std::int64_t> places_;
  std::map<int, std::int64_t> of_rank_;
};

// A marker's are ranks.
bool HasWordsForPids(const Json& events) {
  return std::any_of(events.begin(), events.end(), [](const Json& event) {
    return event.is_object() && !TextIn(event, "pid").empty();
  });
}

// One event of a profiler's: its process, its flow, and what its process is called.
void Rename(int rank, std::uint64_t flows, Processes* processes, Json* event, Json* added) {
  if (!event->contains("pid")) {
    return;
  }
  const Json old = (*event)["pid"];
  const auto [pid, is_new] = processes->PidOf(rank, old.dump());
  (*event)["pid"] = pid;
  if (is_new) {
    added->push_back(Metadata("process_sort_index", pid, "sort_index", processes->PlaceOf(pid)));
    if (old.is_string()) {
      added->push_back(Metadata("process_name", pid, "name",
                                absl::StrCat("rank ", rank, ": ", old.get<std::string>())));
    }
  }
  const std::string name = TextIn(*event, "ph") == "M" ? TextIn(*event, "name") : "";
  Json none = Json::object();
  Json& arguments = event->contains("args") ? (*event)["args"] : none;
  if (name == "process_name" && arguments.is_object()) {
    arguments["name"] = absl::StrCat("rank ", rank, ": ", TextIn(arguments, "name"));
  } else if (name == "process_sort_index" && arguments.is_object()) {
    arguments["sort_index"] = processes->PlaceOf(pid);
  }
  if (const auto id = event->find("id");
      id != event->end() && id->is_number_unsigned() && id->get<std::uint64_t>() < kFlowsOfPart) {
    *id = flows + id->get<std::uint64_t>();
  }
}

// What is larger was not written by a profiler, and would not fit where times are added up.
constexpr double kTimeMost = 3e15;  // microseconds: until 2065
constexpr double kBaseMost = 3e18;  // the same in nanoseconds
constexpr double kPidMost = 2e9;
constexpr double kRankMost = 1e6;

absl::Status CheckNumber(const Json& object, const char* key, double most) {
  if (!IsNumber(object, key) || std::abs(object[key].get<double>()) <= most) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("has ", object[key].dump(), " as ", key, ", which no trace has"));
}

}  // namespace

bool IsNumber(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number();
}

std::string TextIn(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

absl::StatusOr<TimelinePart> TimelinePartOf(Json document, int place) {
  TimelinePart part{.events = Json::array(), .rank = place};
  if (document.is_object() && document.contains("traceEvents")) {
    part.profiler = document.contains("schemaVersion");
    if (IsNumber(document, "baseTimeNanoseconds")) {
      RETURN_IF_ERROR(CheckNumber(document, "baseTimeNanoseconds", kBaseMost));
      part.base = document["baseTimeNanoseconds"].get<std::int64_t>();
    }
    const Json job = document.value("distributedInfo", Json::object());
    if (job.is_object() && IsNumber(job, "rank")) {
      RETURN_IF_ERROR(CheckNumber(job, "rank", kRankMost));
      part.rank = job["rank"].get<int>();
    }
    part.events = std::move(document["traceEvents"]);
  } else {
    part.events = std::move(document);
  }
  if (!part.events.is_array()) {
    return absl::InvalidArgumentError("is no list of trace events");
  }
  for (const Json& event : part.events) {
    if (event.is_object()) {
      RETURN_IF_ERROR(CheckNumber(event, "ts", kTimeMost));
      RETURN_IF_ERROR(CheckNumber(event, "dur", kTimeMost));
      RETURN_IF_ERROR(CheckNumber(event, "pid", kPidMost));
    }
  }
  if (!part.profiler && HasWordsForPids(part.events)) {
    part.profiler = true;
    part.clocked = std::all_of(part.events.begin(), part.events.end(), [](const Json& event) {
      return !event.is_object() || !IsNumber(event, "ts") ||
             event["ts"].get<double>() >= kClockLeast;
    });
  }
  return part;
}

std::int64_t LineUp(std::vector<TimelinePart>* parts) {
  if (std::none_of(parts->begin(), parts->end(),
                   [](const TimelinePart& part) { return part.profiler; })) {
    return 0;
  }
  const bool known = CommonBase(*parts, /*clocked=*/true) != kNoBase;
  FindBases(parts);
  const std::int64_t base = CommonBase(*parts);
  Processes processes;
  std::uint64_t flows = 0;
  for (TimelinePart& part : *parts) {
    // Whole microseconds apart: since 1970 these are exact in a double, and nanoseconds are not.
    const std::int64_t later = part.base - base;
    const std::int64_t microseconds = later / kNanosecondsOfMicrosecond;
    const auto whole = static_cast<double>(microseconds);
    const double rest = static_cast<double>(later % kNanosecondsOfMicrosecond) / 1000;
    Json added = Json::array();
    for (Json& event : part.events) {
      if (!event.is_object()) {
        continue;
      }
      if (IsNumber(event, "ts")) {
        event["ts"] = event["ts"].get<double>() + whole + rest;
      }
      if (part.profiler) {
        Rename(part.rank, flows, &processes, &event, &added);
      } else if (TextIn(event, "name") == "process_name" && IsNumber(event, "pid")) {
        added.push_back(Metadata("process_sort_index", event["pid"], "sort_index",
                                 event["pid"].get<std::int64_t>() * kProcessesOfRank));
      }
    }
    for (Json& event : added) {
      part.events.push_back(std::move(event));
    }
    flows += kFlowsOfPart;
  }
  return known ? base : 0;
}

bool IsOnGpu(const Json& event) {
  const std::string kind = TextIn(event, "cat");
  return (kind == "kernel" || kind == "gpu_memcpy" || kind == "gpu_memset") &&
         IsNumber(event, "ts") && IsNumber(event, "dur");
}

bool IsCommunication(const Json& event) {
  const std::string name = absl::AsciiStrToLower(TextIn(event, "name"));
  return absl::StrContains(name, "nccl") || absl::StrContains(name, "rccl");
}

}  // namespace muster::cli

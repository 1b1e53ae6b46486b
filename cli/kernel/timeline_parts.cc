#include "cli/kernel/timeline_parts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::cli {
namespace {

constexpr std::int64_t kFirstPid = 1'000'000;       // above the ranks that are pids themselves
constexpr std::uint64_t kFlowsOfPart = 1ULL << 40;  // ids of one file are below that
constexpr std::int64_t kProcessesOfRank = 1'000;    // between the places of two ranks
constexpr std::int64_t kNanosecondsOfMicrosecond = 1'000;

bool IsNumber(const Json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_number();
}

std::string TextIn(const Json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_string() ? found->get<std::string>() : "";
}

// The earliest of all, so that no ts becomes negative.
std::int64_t CommonBase(const std::vector<TimelinePart>& parts) {
  std::int64_t base = std::numeric_limits<std::int64_t>::max();
  for (const TimelinePart& part : parts) {
    if (part.pytorch) {
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

Json Metadata(const char* name, const Json& pid, const char* key, Json value) {
  return {{"name", name}, {"ph", "M"}, {"pid", pid}, {"tid", 0}, {"args", {{key, value}}}};
}

// Pids that no two ranks share, and where their processes stand.
class Processes {
 public:
  // The pid of what is called `pid` in a trace of PyTorch's, and whether it is new.
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

// One event of PyTorch's: its process, its flow, and what its process is called.
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

}  // namespace

absl::StatusOr<TimelinePart> TimelinePartOf(Json document, int place) {
  TimelinePart part{.events = Json::array(), .rank = place};
  if (document.is_object() && document.contains("traceEvents")) {
    part.pytorch = document.contains("schemaVersion") && document.contains("deviceProperties");
    if (IsNumber(document, "baseTimeNanoseconds")) {
      part.base = document["baseTimeNanoseconds"].get<std::int64_t>();
    }
    const Json job = document.value("distributedInfo", Json::object());
    if (job.is_object() && IsNumber(job, "rank")) {
      part.rank = job["rank"].get<int>();
    }
    part.events = std::move(document["traceEvents"]);
  } else {
    part.events = std::move(document);
  }
  if (!part.events.is_array()) {
    return absl::InvalidArgumentError("is no list of trace events");
  }
  return part;
}

std::int64_t LineUp(std::vector<TimelinePart>* parts) {
  if (std::none_of(parts->begin(), parts->end(),
                   [](const TimelinePart& part) { return part.pytorch; })) {
    return 0;
  }
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
      if (part.pytorch) {
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
  return base;
}

}  // namespace muster::cli

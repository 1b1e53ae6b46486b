#include "cli/kernel/nsys_trace.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/kernel/timeline_parts.h"

namespace muster::cli {
namespace {

constexpr double kNanosecondsOfMicrosecond = 1'000;
constexpr std::int64_t kIdMask = 0xFFFFFF;  // of a process, or below it of a thread
constexpr int kProcessBits = 24;

// nsys writes numbers of 64 bits as text.
std::optional<std::int64_t> NumberIn(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) {
    return std::nullopt;
  }
  if (found->is_number_integer()) {
    return found->get<std::int64_t>();
  }
  std::int64_t number = 0;
  return found->is_string() && absl::SimpleAtoi(found->get<std::string>(), &number)
             ? std::optional(number)
             : std::nullopt;
}

// The object below `key`; null where there is none.
const Json* ObjectIn(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? &*found : nullptr;
}

const char* CopyName(std::int64_t kind) {
  switch (kind) {
    case 1:
      return "Memcpy HtoD";
    case 2:
      return "Memcpy DtoH";
    case 8:
      return "Memcpy DtoD";
    case 10:
      return "Memcpy PtoP";
    default:
      return "Memcpy";
  }
}

// The names of one export, by number.
class Names {
 public:
  void Take(const Json& line) {
    if (const auto list = line.find("data"); list != line.end() && list->is_array()) {
      for (std::size_t i = 0; i < list->size(); ++i) {
        if ((*list)[i].is_string()) {
          names_[static_cast<std::int64_t>(i)] = (*list)[i].get<std::string>();
        }
      }
    } else if (TextIn(line, "type") == "String") {
      names_[NumberIn(line, "id").value_or(-1)] = TextIn(line, "value");
    }
  }
  [[nodiscard]] bool empty() const { return names_.empty(); }
  // Of the first key that is there.
  [[nodiscard]] std::string In(const Json& object, std::initializer_list<const char*> keys) const {
    for (const char* key : keys) {
      const std::optional<std::int64_t> number = NumberIn(object, key);
      const auto found = names_.find(number.value_or(-1));
      if (number.has_value() && found != names_.end()) {
        return found->second;
      }
    }
    return "";
  }

 private:
  std::map<std::int64_t, std::string> names_;
};

// Begin and end in microseconds; nullopt for a moment, and for what has not ended.
struct Range {
  double begin = 0;
  double length = 0;
};
// Of a moment: 2065, so that sums of two fit.
constexpr std::int64_t kNsMost = 3'000'000'000'000'000'000;

std::optional<Range> RangeIn(const Json& object, const char* begin, const char* end) {
  const std::int64_t from = NumberIn(object, begin).value_or(0);
  const std::int64_t until = NumberIn(object, end).value_or(0);
  if (from < 0 || until <= from || until > kNsMost) {
    return std::nullopt;
  }
  return Range{static_cast<double>(from) / kNanosecondsOfMicrosecond,
               static_cast<double>(until - from) / kNanosecondsOfMicrosecond};
}

Json Event(const char* category, std::string name, const Range& range, std::string process,
           std::int64_t thread) {
  return {{"ph", "X"},         {"cat", category},     {"name", std::move(name)},
          {"ts", range.begin}, {"dur", range.length}, {"pid", std::move(process)},
          {"tid", thread}};
}

std::optional<Json> OnGpu(const Json& event, const Names& names) {
  const std::optional<Range> range = RangeIn(event, "startNs", "endNs");
  if (!range.has_value()) {
    return std::nullopt;
  }
  const std::string gpu = absl::StrCat("GPU ", NumberIn(event, "deviceId").value_or(0));
  const std::int64_t stream = NumberIn(event, "streamId").value_or(0);
  if (const Json* const kernel = ObjectIn(event, "kernel")) {
    return Event("kernel", names.In(*kernel, {"shortName", "demangledName", "mangledName"}), *range,
                 gpu, stream);
  }
  if (const Json* const copy = ObjectIn(event, "memcpy")) {
    return Event("gpu_memcpy", CopyName(NumberIn(*copy, "copyKind").value_or(0)), *range, gpu,
                 stream);
  }
  return ObjectIn(event, "memset") == nullptr
             ? std::nullopt
             : std::optional(Event("gpu_memset", "Memset", *range, gpu, stream));
}

std::optional<Json> OnThread(const char* category, std::string name,
                             const std::optional<Range>& range, std::int64_t global_thread) {
  if (!range.has_value()) {
    return std::nullopt;
  }
  return Event(category, std::move(name), *range,
               absl::StrCat("process ", (global_thread >> kProcessBits) & kIdMask),
               global_thread & kIdMask);
}

std::optional<Json> EventOf(const Json& line, const Names& names) {
  if (const Json* const event = ObjectIn(line, "CudaEvent")) {
    return OnGpu(*event, names);
  }
  if (const Json* const call = ObjectIn(line, "TraceProcessEvent")) {
    return OnThread("cuda_runtime", names.In(*call, {"name", "nameId"}),
                    RangeIn(*call, "startNs", "endNs"), NumberIn(*call, "globalTid").value_or(0));
  }
  if (const Json* const marked = ObjectIn(line, "NvtxEvent")) {
    const std::string text = TextIn(*marked, "Text");
    return OnThread("user_annotation", text.empty() ? names.In(*marked, {"TextId"}) : text,
                    RangeIn(*marked, "Timestamp", "EndTimestamp"),
                    NumberIn(*marked, "GlobalTid").value_or(0));
  }
  return std::nullopt;
}

}  // namespace

std::optional<Json> EventsOfNsys(const std::string& text) {
  std::vector<Json> lines;
  Names names;
  bool any = false;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipWhitespace())) {
    Json object = Json::parse(line.begin(), line.end(), nullptr, /*allow_exceptions=*/false);
    if (!object.is_object()) {
      return std::nullopt;
    }
    names.Take(object);
    any = any || object.contains("CudaEvent") || object.contains("NvtxEvent") ||
          object.contains("TraceProcessEvent");
    lines.push_back(std::move(object));
  }
  if (!any && names.empty()) {
    return std::nullopt;
  }
  Json events = Json::array();
  for (const Json& line : lines) {
    if (std::optional<Json> event = EventOf(line, names)) {
      events.push_back(*std::move(event));
    }
  }
  return events;
}

}  // namespace muster::cli

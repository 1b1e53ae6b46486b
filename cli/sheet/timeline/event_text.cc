#include "cli/sheet/timeline/event_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "cli/page/text.h"

namespace muster::cli {
namespace {

using Json = nlohmann::json;

std::string TextAt(const Json& data, const char* key) {
  const auto found = data.find(key);
  return found == data.end() || !found->is_string() ? std::string() : found->get<std::string>();
}

std::int64_t NumberAt(const Json& data, const char* key) {
  const auto found = data.find(key);
  return found == data.end() || !found->is_number() ? 0 : found->get<std::int64_t>();
}

std::string Subject(const Json& data) {
  if (data.contains("label")) {
    return absl::StrCat("job ", TextAt(data, "label"), " ", TextAt(data, "name"), " (",
                        TextAt(data, "user"), ")");
  }
  if (data.contains("node")) {
    return absl::StrCat("node ", TextAt(data, "node"));
  }
  return data.contains("kind") ? absl::StrCat(TextAt(data, "kind"), " ", TextAt(data, "name"))
                               : "controller";
}

// What the event says besides its name.
std::string Details(const Json& data) {
  std::vector<std::string> details;
  if (const std::string state = TextAt(data, "state"); !state.empty()) {
    details.push_back(state);
  }
  if (const std::int64_t code = NumberAt(data, "exit_code"); code != 0) {
    details.push_back(absl::StrCat("exit code ", code));
  }
  if (const std::int64_t signal = NumberAt(data, "exit_signal"); signal != 0) {
    details.push_back(absl::StrCat("signal ", signal));
  }
  if (const std::int64_t count = NumberAt(data, "count"); count > 1) {
    details.push_back(absl::StrCat(count, " jobs"));
  }
  if (data.contains("step")) {
    details.push_back(absl::StrCat("step ", NumberAt(data, "step")));
  }
  if (const auto nodes = data.find("nodes"); nodes != data.end() && nodes->is_array()) {
    details.push_back(
        absl::StrCat("on ", absl::StrJoin(nodes->get<std::vector<std::string>>(), ",")));
  } else if (data.contains("label") && data.contains("node")) {
    details.push_back(absl::StrCat("on ", TextAt(data, "node")));
  }
  if (const std::string text = TextAt(data, "text"); !text.empty()) {
    details.push_back(text);
  }
  return absl::StrJoin(details, ", ");
}

}  // namespace

std::string EventText(const std::string& json, const Style& style) {
  const Json event = Json::parse(json, nullptr, false);
  if (!event.is_object() || !event.contains("data") || !event["data"].is_object()) {
    return Printable(json) + "\n";
  }
  const Json& data = event["data"];
  absl::Time time;
  std::string error;
  const bool dated = absl::ParseTime(absl::RFC3339_full, TextAt(event, "time"), &time, &error);
  const std::string type = TextAt(event, "type");
  const std::string what =
      absl::StrReplaceAll(type.substr(std::min(type.rfind('.') + 1, type.size())), {{"_", " "}});
  const std::string details = Details(data);
  return Printable(absl::StrCat(
             dated ? absl::FormatTime("%Y-%m-%d %H:%M:%S", time, style.zone) : "-", "  ",
             Subject(data), "  ", absl::StrContains(type, ".step.") ? "step " : "", what,
             details.empty() ? "" : ": ", details)) +
         "\n";
}

}  // namespace muster::cli

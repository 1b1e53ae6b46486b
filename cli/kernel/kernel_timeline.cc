#include "cli/kernel/kernel_timeline.h"

#include <fstream>
#include <iterator>
#include <memory>
#include <set>

#include "absl/strings/str_cat.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/frame/result_file.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

// The events of one file: a list, or a document with one in it.
absl::StatusOr<Json> ReadEvents(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    return absl::NotFoundError(absl::StrCat(path, ": cannot be read: name a timeline of a rank"));
  }
  const std::string text(std::istreambuf_iterator<char>(file), {});
  Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_object() && document.contains("traceEvents")) {
    document = Json(document["traceEvents"]);
  }
  if (!document.is_array()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is no list of trace events: name what a marker wrote"));
  }
  return document;
}

}  // namespace

absl::StatusOr<int> JoinTimelines(const std::string& into, const std::vector<std::string>& parts) {
  std::vector<Json> read;
  for (const std::string& part : parts) {
    ASSIGN_OR_RETURN(Json events, ReadEvents(part));
    read.push_back(std::move(events));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<ResultFile> file, ResultFile::Create(into));
  std::set<std::string> processes;
  std::size_t count = 0;
  RETURN_IF_ERROR(file->Append("[\n"));
  for (const Json& events : read) {
    for (const Json& event : events) {
      RETURN_IF_ERROR(file->Append(absl::StrCat(count == 0 ? "" : ",", event.dump(), "\n")));
      processes.insert(event.is_object() ? event.value("pid", Json()).dump() : "");
      ++count;
    }
  }
  RETURN_IF_ERROR(file->Append("]\n"));
  RETURN_IF_ERROR(file->Finish());
  RETURN_IF_ERROR(
      WriteOut(absl::StrCat(into, ": ", count, " events of ", processes.size(), " ranks\n")));
  return 0;
}

}  // namespace muster::cli

#include "cli/kernel/kernel_timeline.h"

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/frame/result_file.h"
#include "cli/kernel/timeline_parts.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/simulator/readers/byte_source.h"

namespace muster::cli {
namespace {

// One file, compressed or not; PyTorch's are often .gz.
absl::StatusOr<TimelinePart> ReadPart(const std::string& path, int place) {
  absl::StatusOr<std::unique_ptr<sim::ByteSource>> source = sim::ByteSource::Open(path);
  if (!source.ok()) {
    return absl::NotFoundError(absl::StrCat(path, ": cannot be read: name a timeline of a rank"));
  }
  std::string text;
  std::array<char, 65536> piece{};
  for (std::size_t bytes = 1; bytes > 0;) {
    ASSIGN_OR_RETURN(bytes, (*source)->Read(piece.data(), piece.size()));
    text.append(piece.data(), bytes);
  }
  absl::StatusOr<TimelinePart> part =
      TimelinePartOf(Json::parse(text, nullptr, /*allow_exceptions=*/false), place);
  if (!part.ok()) {
    return absl::Status(part.status().code(),
                        absl::StrCat(path, ": ", std::string(part.status().message()),
                                     ": name what a marker or PyTorch's profiler wrote"));
  }
  return part;
}

// Whose event it is, as text.
std::string RankOf(const TimelinePart& part, const Json& event) {
  return part.pytorch        ? absl::StrCat(part.rank)
         : event.is_object() ? event.value("pid", Json()).dump()
                             : std::string();
}

}  // namespace

absl::StatusOr<int> JoinTimelines(const std::string& into, const std::vector<std::string>& parts) {
  std::vector<TimelinePart> read;
  for (const std::string& part : parts) {
    ASSIGN_OR_RETURN(TimelinePart one, ReadPart(part, static_cast<int>(read.size())));
    read.push_back(std::move(one));
  }
  const std::int64_t base = LineUp(&read);
  ASSIGN_OR_RETURN(const std::unique_ptr<ResultFile> file, ResultFile::Create(into));
  std::set<std::string> ranks;
  std::size_t count = 0;
  // A list, or where times count from later than 1970 a document that says so.
  RETURN_IF_ERROR(file->Append(
      base == 0 ? "[\n" : absl::StrCat("{\"baseTimeNanoseconds\":", base, ",\"traceEvents\":[\n")));
  for (const TimelinePart& part : read) {
    for (const Json& event : part.events) {
      RETURN_IF_ERROR(file->Append(absl::StrCat(count == 0 ? "" : ",", event.dump(), "\n")));
      ranks.insert(RankOf(part, event));
      ++count;
    }
  }
  RETURN_IF_ERROR(file->Append(base == 0 ? "]\n" : "]}\n"));
  RETURN_IF_ERROR(file->Finish());
  RETURN_IF_ERROR(WriteOut(absl::StrCat(into, ": ", Counted(count, "event"), " of ",
                                        Counted(ranks.size(), "rank"), "\n")));
  return 0;
}

}  // namespace muster::cli

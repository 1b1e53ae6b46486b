#include "cli/kernel/kernel_timeline.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/frame/result_file.h"
#include "cli/kernel/nsys_trace.h"
#include "cli/kernel/timeline_account.h"
#include "cli/kernel/timeline_parts.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/simulator/readers/byte_source.h"

namespace muster::cli {
namespace {

// An export of a single line is a document as well.
bool IsOneOfNsys(const Json& document) {
  return document.is_object() &&
         (document.contains("CudaEvent") || document.contains("NvtxEvent") ||
          document.contains("TraceProcessEvent"));
}

// Deeper than any trace: to write it takes stack for each level.
bool IsTooDeep(const std::string& text) {
  constexpr int kDepthMost = 256;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size() && depth <= kDepthMost; ++i) {
    const char c = text[i];
    if (quoted) {
      i += c == '\\' ? 1 : 0;
      quoted = c != '"';
    } else {
      quoted = c == '"';
      depth += c == '[' || c == '{' ? 1 : 0;
      depth -= c == ']' || c == '}' ? 1 : 0;
    }
  }
  return depth > kDepthMost;
}

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
  if (IsTooDeep(text)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is nested more deeply than any trace: name a timeline of a rank"));
  }
  Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded() || IsOneOfNsys(document)) {
    if (std::optional<Json> events = EventsOfNsys(text)) {
      return TimelinePart{
          .events = *std::move(events), .profiler = true, .clocked = false, .rank = place};
    }
  }
  absl::StatusOr<TimelinePart> part = TimelinePartOf(std::move(document), place);
  if (!part.ok()) {
    return absl::Status(part.status().code(),
                        absl::StrCat(path, ": ", std::string(part.status().message()),
                                     ": name what a marker, PyTorch's profiler or nsys export "
                                     "--type json wrote"));
  }
  return part;
}

// Whose event it is, as text.
std::string RankOf(const TimelinePart& part, const Json& event) {
  return part.profiler       ? absl::StrCat(part.rank)
         : event.is_object() ? event.value("pid", Json()).dump()
                             : std::string();
}

// How many events of how many ranks were written.
struct Joined {
  std::size_t events = 0;
  std::size_t ranks = 0;
};

absl::StatusOr<Joined> Write(const std::string& into, const std::vector<TimelinePart>& parts,
                             std::int64_t base) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ResultFile> file, ResultFile::Create(into));
  std::set<std::string> ranks;
  Joined joined;
  // A list, or where times count from later than 1970 a document that says so.
  RETURN_IF_ERROR(file->Append(
      base == 0 ? "[\n" : absl::StrCat("{\"baseTimeNanoseconds\":", base, ",\"traceEvents\":[\n")));
  for (const TimelinePart& part : parts) {
    for (const Json& event : part.events) {
      RETURN_IF_ERROR(file->Append(
          absl::StrCat(joined.events == 0 ? "" : ",",
                       event.dump(-1, ' ', false, Json::error_handler_t::replace), "\n")));
      ranks.insert(RankOf(part, event));
      ++joined.events;
    }
  }
  RETURN_IF_ERROR(file->Append(base == 0 ? "]\n" : "]}\n"));
  RETURN_IF_ERROR(file->Finish());
  joined.ranks = ranks.size();
  return joined;
}

}  // namespace

absl::StatusOr<int> JoinTimelines(const std::string& into, const std::vector<std::string>& parts,
                                  bool json, const Style& style) {
  std::vector<TimelinePart> read;
  for (const std::string& part : parts) {
    ASSIGN_OR_RETURN(TimelinePart one, ReadPart(part, static_cast<int>(read.size())));
    read.push_back(std::move(one));
  }
  const std::int64_t base = LineUp(&read);
  ASSIGN_OR_RETURN(const Joined joined, Write(into, read, base));
  const std::vector<RankAccount> accounts = AccountsOf(read);
  std::vector<int> unaligned;
  for (const TimelinePart& part : read) {
    if (part.unaligned) {
      unaligned.push_back(part.rank);
    }
  }
  if (json) {
    const std::optional<int> awaited = AwaitedRank(accounts);
    RETURN_IF_ERROR(
        WriteOut(PrintJson({{"file", into},
                            {"events", joined.events},
                            {"ranks", AccountDocument(accounts)},
                            {"awaited", awaited.has_value() ? Json(*awaited) : Json(nullptr)},
                            {"unaligned", unaligned}})));
    return 0;
  }
  std::string page = absl::StrCat(into, ": ", Counted(joined.events, "event"), " of ",
                                  Counted(joined.ranks, "rank"), "\n");
  for (const int rank : unaligned) {
    absl::StrAppend(&page, "rank ", rank, ": has neither a clock nor collectives in common with ",
                    "the others: its times begin where theirs do\n");
  }
  RETURN_IF_ERROR(WriteOut(page + AccountPage(accounts, style)));
  return 0;
}

}  // namespace muster::cli

#include "daemon/store/archive/journal_archive.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "daemon/store/archive/compressed_file.h"
#include "daemon/store/archive/journal_segment.h"
#include "daemon/store/sqlite/migrations.h"
#include "daemon/store/sqlite/sqlite.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"

namespace muster::daemon {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBeginning = "beginning-";
constexpr const char* kBeginningEnd = ".db";
constexpr const char* kSegment = "journal-";
constexpr const char* kSegmentEnd = ".db.zst";
constexpr const char* kWork = "work.db";

// "NAME<a>-<b>END"; nullopt: another file.
std::optional<std::pair<std::uint64_t, std::uint64_t>> NumbersIn(absl::string_view name,
                                                                 absl::string_view begin,
                                                                 absl::string_view end) {
  if (!absl::ConsumePrefix(&name, begin) || !absl::ConsumeSuffix(&name, end)) {
    return std::nullopt;
  }
  std::pair<std::uint64_t, std::uint64_t> numbers;
  const char* const stop = name.data() + name.size();
  const auto first = std::from_chars(name.data(), stop, numbers.first);
  if (first.ec != std::errc() || first.ptr == stop || *first.ptr != '-') {
    return std::nullopt;
  }
  const auto second = std::from_chars(first.ptr + 1, stop, numbers.second);
  return second.ec == std::errc() && second.ptr == stop ? std::optional(numbers) : std::nullopt;
}

// Calls visit(path, a, b) for each file of that form.
template <class Visit>
void ForEachFile(const std::string& directory, const char* begin, const char* end,
                 const Visit& visit) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
    if (const auto numbers = NumbersIn(entry.path().filename().string(), begin, end)) {
      visit(entry.path().string(), numbers->first, numbers->second);
    }
  }
}

// A store's file with no rows, for rows that can be written again: nothing of it need be durable
// before it has its name.
absl::StatusOr<std::unique_ptr<SqliteDatabase>> OpenWork(const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteDatabase> file,
                   SqliteDatabase::Open(path, SqliteDatabase::Mode::kReadWrite));
  RETURN_IF_ERROR(file->Execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF"));
  RETURN_IF_ERROR(Migrate(*file));
  return file;
}

}  // namespace

absl::StatusOr<JournalArchive> JournalArchive::Open(const std::string& directory) {
  RETURN_IF_ERROR(EnsurePrivateDirectory(directory));
  return JournalArchive(directory);
}

bool JournalArchive::IsSegment(const std::string& path) {
  return absl::EndsWith(path, kSegmentEnd);
}

std::vector<JournalBeginning> JournalArchive::Beginnings() const {
  std::vector<JournalBeginning> beginnings;
  ForEachFile(directory_, kBeginning, kBeginningEnd,
              [&](const std::string& path, std::uint64_t version, std::uint64_t time) {
                const Time taken{Duration(static_cast<std::int64_t>(time))};
                beginnings.push_back(JournalBeginning{Version(version), taken, path});
              });
  std::sort(beginnings.begin(), beginnings.end(),
            [](const auto& a, const auto& b) { return a.version < b.version; });
  return beginnings;
}

std::vector<JournalSegment> JournalArchive::Segments() const {
  std::vector<JournalSegment> segments;
  ForEachFile(directory_, kSegment, kSegmentEnd,
              [&](const std::string& path, std::uint64_t first, std::uint64_t last) {
                segments.push_back(JournalSegment{Version(first), Version(last), path});
              });
  std::sort(segments.begin(), segments.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return segments;
}

absl::StatusOr<JournalBeginning> JournalArchive::Take(Database& store, Time now) const {
  const std::string work = absl::StrCat(directory_, "/", kWork);
  unlink(work.c_str());
  JournalBeginning beginning;
  {
    ASSIGN_OR_RETURN(const std::unique_ptr<SqliteDatabase> file, OpenWork(work));
    ASSIGN_OR_RETURN(beginning.version, CopyState(store, *file));
    RETURN_IF_ERROR(file->Execute("PRAGMA synchronous = FULL; VACUUM"));
  }
  beginning.taken = now;
  beginning.path = absl::StrCat(directory_, "/", kBeginning, beginning.version.value(), "-",
                                std::int64_t{now.time_since_epoch().count()}, kBeginningEnd);
  std::error_code error;
  fs::rename(work, beginning.path, error);
  return error ? absl::StatusOr<JournalBeginning>(
                     absl::UnavailableError(absl::StrCat(beginning.path, ": ", error.message())))
               : beginning;
}

absl::Status JournalArchive::Write(Database& store, Version begins, Version last,
                                   Scripts scripts) const {
  const std::string path =
      absl::StrCat(directory_, "/", kSegment, begins.value(), "-", last.value(), kSegmentEnd);
  const std::string work = absl::StrCat(directory_, "/", kWork);
  if (access(path.c_str(), F_OK) == 0) {
    return absl::OkStatus();
  }
  unlink(work.c_str());
  if (begins > Version(1)) {
    const std::vector<JournalBeginning> beginnings = Beginnings();
    const auto before = std::find_if(
        beginnings.begin(), beginnings.end(),
        [begins](const JournalBeginning& each) { return each.version.Next() == begins; });
    if (before == beginnings.end()) {
      return absl::FailedPreconditionError(
          absl::StrCat(directory_, ": has no ", kBeginning, begins.value() - 1,
                       "-…, the state that the journal begins with: have all controllers use one "
                       "directory (retention.archive)"));
    }
    std::error_code error;
    fs::copy_file(before->path, work, error);
    if (error) {
      return absl::UnavailableError(absl::StrCat(work, ": ", error.message()));
    }
  }
  {
    ASSIGN_OR_RETURN(const std::unique_ptr<SqliteDatabase> file, OpenWork(work));
    RETURN_IF_ERROR(CopyEntries(store, *file, last, scripts));
  }
  const absl::Status compressed = CompressFile(work, path);
  unlink(work.c_str());
  return compressed;
}

void JournalArchive::RemoveBefore(Version version) const {
  for (const JournalBeginning& beginning : Beginnings()) {
    if (beginning.version < version) {
      unlink(beginning.path.c_str());
    }
  }
}

}  // namespace muster::daemon

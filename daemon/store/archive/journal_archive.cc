#include "daemon/store/archive/journal_archive.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "daemon/store/archive/archive_files.h"
#include "daemon/store/archive/compressed_file.h"
#include "daemon/store/archive/journal_segment.h"
#include "daemon/store/sqlite/sqlite.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"

namespace muster::daemon {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWork = "work.db";

}  // namespace

absl::StatusOr<JournalArchive> JournalArchive::Open(const std::string& directory) {
  RETURN_IF_ERROR(EnsurePrivateDirectory(directory));
  return JournalArchive(directory);
}

bool JournalArchive::IsSegment(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  return absl::EndsWith(name, kSegmentName.end) && NumbersIn(name, kEndedJobsName).empty();
}

std::vector<JournalBeginning> JournalArchive::Beginnings() const {
  std::vector<JournalBeginning> beginnings;
  ForEachFile(directory_, kBeginningName, [&](const std::string& path, const auto& numbers) {
    const Time taken{Duration(static_cast<std::int64_t>(numbers[1]))};
    beginnings.push_back(JournalBeginning{Version(numbers[0]), taken, path});
  });
  std::sort(beginnings.begin(), beginnings.end(),
            [](const auto& a, const auto& b) { return a.version < b.version; });
  return beginnings;
}

std::vector<JournalSegment> JournalArchive::Segments() const {
  std::vector<JournalSegment> segments;
  ForEachFile(directory_, kSegmentName, [&](const std::string& path, const auto& numbers) {
    segments.push_back(JournalSegment{Version(numbers[0]), Version(numbers[1]), path});
  });
  std::sort(segments.begin(), segments.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return segments;
}

absl::StatusOr<JournalBeginning> JournalArchive::Take(Database& store, Time now) const {
  const std::string work = absl::StrCat(directory_, "/", kWork);
  JournalBeginning beginning;
  {
    ASSIGN_OR_RETURN(const std::unique_ptr<SqliteDatabase> file, OpenWorkFile(work, false));
    ASSIGN_OR_RETURN(beginning.version, CopyState(store, *file));
    RETURN_IF_ERROR(file->Execute("PRAGMA synchronous = FULL; VACUUM"));
  }
  beginning.taken = now;
  beginning.path = absl::StrCat(
      directory_, "/",
      NameOf(kBeginningName, {beginning.version.value(),
                              static_cast<std::uint64_t>(now.time_since_epoch().count())}));
  std::error_code error;
  fs::rename(work, beginning.path, error);
  return error ? absl::StatusOr<JournalBeginning>(
                     absl::UnavailableError(absl::StrCat(beginning.path, ": ", error.message())))
               : beginning;
}

absl::Status JournalArchive::Write(Database& store, Version begins, Version last,
                                   Scripts scripts) const {
  const std::string path =
      absl::StrCat(directory_, "/", NameOf(kSegmentName, {begins.value(), last.value()}));
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
          absl::StrCat(directory_, ": has no ", kBeginningName.begin, begins.value() - 1,
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
    ASSIGN_OR_RETURN(const std::unique_ptr<SqliteDatabase> file, OpenWorkFile(work, true));
    RETURN_IF_ERROR(CopyEntries(store, *file, last, scripts));
  }
  absl::Status compressed = CompressFile(work, path);
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

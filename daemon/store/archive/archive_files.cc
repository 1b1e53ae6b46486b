#include "daemon/store/archive/archive_files.h"

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "daemon/store/sqlite/migrations.h"
#include "scheduler/base/status.h"

namespace muster::daemon {

std::vector<std::uint64_t> NumbersIn(absl::string_view name, const ArchiveName& kind) {
  if (!absl::ConsumePrefix(&name, kind.begin) || !absl::ConsumeSuffix(&name, kind.end)) {
    return {};
  }
  std::vector<std::uint64_t> numbers;
  for (const absl::string_view word : absl::StrSplit(name, '-')) {
    const char* const stop = word.data() + word.size();
    const auto read = std::from_chars(word.data(), stop, numbers.emplace_back());
    if (read.ec != std::errc() || read.ptr != stop) {
      return {};
    }
  }
  return numbers.size() == kind.numbers ? numbers : std::vector<std::uint64_t>();
}

std::string NameOf(const ArchiveName& kind, const std::vector<std::uint64_t>& numbers) {
  return absl::StrCat(kind.begin, absl::StrJoin(numbers, "-"), kind.end);
}

void ForEachFile(const std::string& directory, const ArchiveName& kind, const VisitFile& visit) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    const std::vector<std::uint64_t> numbers = NumbersIn(entry.path().filename().string(), kind);
    if (!numbers.empty()) {
      visit(entry.path().string(), numbers);
    }
  }
}

absl::StatusOr<std::unique_ptr<SqliteDatabase>> OpenWorkFile(const std::string& path, bool keep) {
  if (!keep) {
    unlink(path.c_str());
  }
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteDatabase> file,
                   SqliteDatabase::Open(path, SqliteDatabase::Mode::kReadWrite));
  RETURN_IF_ERROR(file->Execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF"));
  RETURN_IF_ERROR(Migrate(*file));
  return file;
}

}  // namespace muster::daemon

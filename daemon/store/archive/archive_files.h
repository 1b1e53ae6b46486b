#pragma once

// The names of the archive's files, which say what is in them, and files while they are written.
//
// A name is "KIND-NUMBER-NUMBER…END". Invariants: (1) other files of the directory are not touched;
// (2) what was being written when the process ended is written again from nothing.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "daemon/store/sqlite/sqlite.h"

namespace muster::daemon {

// A kind of file: how its name begins and ends, and how many numbers are between.
struct ArchiveName {
  const char* begin;
  const char* end;
  std::size_t numbers;
};

inline constexpr ArchiveName kBeginningName{"beginning-", ".db", 2};  // version, time
inline constexpr ArchiveName kSegmentName{"journal-", ".db.zst", 2};  // first, last version
inline constexpr ArchiveName kEndedJobsName{"jobs-", ".db.zst", 3};   // from, to, how many

// The numbers of that name; empty: it is another file.
std::vector<std::uint64_t> NumbersIn(absl::string_view name, const ArchiveName& kind);
std::string NameOf(const ArchiveName& kind, const std::vector<std::uint64_t>& numbers);

using VisitFile =
    std::function<void(const std::string& path, const std::vector<std::uint64_t>& numbers)>;

// Each file of that kind in the directory, if there is one.
void ForEachFile(const std::string& directory, const ArchiveName& kind, const VisitFile& visit);

// A file of the store's schema to write to, not durable before it has its name. What was there is
// gone unless `keep`; then it is brought to the newest schema.
absl::StatusOr<std::unique_ptr<SqliteDatabase>> OpenWorkFile(const std::string& path, bool keep);

}  // namespace muster::daemon

#include "daemon/store/archive/journal_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/store/archive/archive_files.h"
#include "daemon/store/archive/compressed_file.h"
#include "daemon/store/archive/journal_archive.h"
#include "daemon/store/database/blob.h"
#include "daemon/store/postgres/postgres.h"
#include "daemon/store/rows/journal.h"
#include "daemon/store/sqlite/migrations.h"
#include "daemon/store/sqlite/sqlite.h"
#include "daemon/store/state_reader.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::daemon {
namespace {

constexpr std::int64_t kSchemaWithCycles = 5;
constexpr std::int64_t kCyclesAtOnce = 4096;

absl::StatusOr<std::string> FileIn(const std::string& directory) {
  for (const char* name : {"/state.db", "/controller/state.db"}) {
    std::string path = directory + name;
    if (access(path.c_str(), F_OK) == 0) {
      return path;
    }
  }
  return absl::NotFoundError(absl::StrCat(
      directory, ": no state.db there; name the state directory of a controller (see muster up)"));
}

}  // namespace

JournalReader::JournalReader(std::unique_ptr<Database> entries, std::unique_ptr<Database> cycles)
    : entries_(std::move(entries)), cycles_(std::move(cycles)) {}

JournalReader::~JournalReader() {
  if (!unpacked_.empty()) {
    unlink(unpacked_.c_str());
  }
}

absl::StatusOr<std::unique_ptr<JournalReader>> JournalReader::Open(const std::string& place,
                                                                   std::string archive) {
  std::unique_ptr<JournalReader> reader;
  if (IsPostgresUrl(place)) {
    ASSIGN_OR_RETURN(const PostgresPlace database, ReadPostgresUrl(place));
    ASSIGN_OR_RETURN(std::unique_ptr<Database> entries,
                     PostgresDatabase::Open(database, "muster reader"));
    ASSIGN_OR_RETURN(std::unique_ptr<Database> cycles,
                     PostgresDatabase::Open(database, "muster reader"));
    reader.reset(new JournalReader(std::move(entries), std::move(cycles)));
  } else if (!NumbersIn(std::filesystem::path(place).filename().string(), kEndedJobsName).empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(place, ": ended jobs, no journal; see muster archive load"));
  } else if (JournalArchive::IsSegment(place)) {
    ASSIGN_OR_RETURN(reader, OpenSegment(place));
  } else {
    ASSIGN_OR_RETURN(const std::string path, FileIn(place));
    ASSIGN_OR_RETURN(reader, OpenFile(path));
    archive = archive.empty() ? (std::filesystem::path(path).parent_path() / "archive").string()
                              : archive;
  }
  reader->archive_ = std::move(archive);
  ASSIGN_OR_RETURN(reader->first_, ReadJournalBegins(*reader->entries_));
  ASSIGN_OR_RETURN(reader->last_, ReadVersion(*reader->entries_));
  return reader;
}

absl::StatusOr<std::unique_ptr<JournalReader>> JournalReader::OpenFile(const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<Database> entries,
                   SqliteDatabase::Open(path, SqliteDatabase::Mode::kReadOnly));
  ASSIGN_OR_RETURN(std::unique_ptr<Database> cycles,
                   SqliteDatabase::Open(path, SqliteDatabase::Mode::kReadOnly));
  RETURN_IF_ERROR(CheckSchema(*entries));
  std::unique_ptr<JournalReader> reader(new JournalReader(std::move(entries), std::move(cycles)));
  ASSIGN_OR_RETURN(const std::int64_t schema, reader->entries_->ReadInteger("PRAGMA user_version"));
  reader->has_cycles_ = schema >= kSchemaWithCycles;
  return reader;
}

absl::StatusOr<std::unique_ptr<JournalReader>> JournalReader::OpenSegment(const std::string& path) {
  std::error_code error;
  std::string unpacked =
      (std::filesystem::temp_directory_path(error) / "muster-journal-XXXXXX").string();
  const UniqueFd fd(mkostemp(unpacked.data(), O_CLOEXEC));
  if (fd.get() < 0) {
    return absl::ErrnoToStatus(errno, unpacked);
  }
  const absl::Status whole = DecompressFile(path, unpacked);
  absl::StatusOr<std::unique_ptr<JournalReader>> reader =
      whole.ok() ? OpenFile(unpacked) : absl::StatusOr<std::unique_ptr<JournalReader>>(whole);
  if (!reader.ok()) {
    unlink(unpacked.c_str());
    return reader.status();
  }
  (*reader)->unpacked_ = std::move(unpacked);
  return reader;
}

absl::StatusOr<StateImage> JournalReader::ReadBeginning() {
  if (first_ == Version(1)) {
    return StateImage();
  }
  if (!unpacked_.empty()) {
    ASSIGN_OR_RETURN(StateImage image, ReadState(*entries_));
    image.version = Version(first_.value() - 1);
    return image;
  }
  const std::vector<JournalBeginning> beginnings = JournalArchive(archive_).Beginnings();
  const auto ours =
      std::find_if(beginnings.begin(), beginnings.end(),
                   [this](const JournalBeginning& each) { return each.version.Next() == first_; });
  if (ours == beginnings.end()) {
    return absl::NotFoundError(
        absl::StrCat(archive_, ": has no beginning-", first_.value() - 1,
                     "-…, the state that the journal begins with; name the store's archive with "
                     "--archive DIR"));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> file,
                   SqliteDatabase::Open(ours->path, SqliteDatabase::Mode::kReadOnly));
  return ReadState(*file);
}

absl::StatusOr<std::shared_ptr<const SchedulerConfig>> JournalReader::Settings(std::uint64_t hash) {
  if (settings_ != nullptr && settings_hash_ == hash) {
    return settings_;
  }
  Statement row(*cycles_, "SELECT payload FROM settings WHERE hash = ?");
  row.Start(hash);
  ASSIGN_OR_RETURN(const bool found, row.Next());
  const std::string where = absl::StrCat(cycles_->path(), ": settings ", absl::Hex(hash));
  if (!found) {
    return Unreadable(where, "not there");
  }
  SchedulerConfig config;
  RETURN_IF_ERROR(Decode(row.Bytes(0), where, &config));
  settings_hash_ = hash;
  settings_ = std::make_shared<const SchedulerConfig>(std::move(config));
  return settings_;
}

absl::StatusOr<std::vector<CycleRecord>> JournalReader::ReadCycles(std::int64_t* after) {
  std::vector<CycleRecord> cycles;
  if (!has_cycles_) {
    return cycles;
  }
  Statement rows(*cycles_,
                 "SELECT id, version, time, hash, follows, settings FROM passes "
                 "WHERE id > ? ORDER BY id LIMIT ?");
  rows.Start(*after, kCyclesAtOnce);
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) {
      return cycles;
    }
    *after = rows.Integer(0);
    cycles.push_back(CycleRecord{Version(rows.Unsigned(1)), Time(Duration(rows.Integer(2))),
                                 rows.Unsigned(3), rows.Integer(4) != 0, nullptr});
    ASSIGN_OR_RETURN(cycles.back().config, Settings(rows.Unsigned(5)));
  }
}

absl::Status JournalReader::Read(const std::function<bool(const JournalEntry&)>& visit_entry,
                                 const std::function<bool(const CycleRecord&)>& visit_cycle) {
  std::vector<CycleRecord> cycles;
  std::size_t place = 0;
  std::int64_t after = 0;
  std::optional<CycleRecord> next;
  const auto move_on = [&]() -> absl::Status {
    next.reset();
    if (place == cycles.size()) {
      ASSIGN_OR_RETURN(cycles, ReadCycles(&after));
      place = 0;
    }
    if (place < cycles.size()) {
      next = cycles[place++];
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(move_on());
  while (next.has_value() && next->version < first_) {
    const bool of_the_beginning = next->version.Next() == first_;
    if (of_the_beginning && !visit_cycle(*next)) {
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(move_on());
  }
  absl::Status status;
  Version expected = first_;
  const auto visit = [&](const JournalEntry& entry) {
    if (entry.version > last_) {
      return false;
    }
    if (entry.version != expected) {
      status = Unreadable(absl::StrCat(entries_->path(), ": journal entry ", expected.value()),
                          "missing");
      return false;
    }
    expected = expected.Next();
    bool go_on = visit_entry(entry);
    while (go_on && next.has_value() && next->version == entry.version) {
      go_on = visit_cycle(*next);
      status = move_on();
      go_on = go_on && status.ok();
    }
    return go_on;
  };
  RETURN_IF_ERROR(ReadJournalRows(*entries_, expected, visit,
                                  unpacked_.empty() ? Entries::kApart : Entries::kWhole));
  return status;
}

absl::StatusOr<std::optional<StateImage>> JournalReader::ReadImage() {
  if (!unpacked_.empty()) {
    return std::nullopt;
  }
  ASSIGN_OR_RETURN(StateImage image, ReadState(*entries_));
  return std::optional(std::move(image));
}

}  // namespace muster::daemon

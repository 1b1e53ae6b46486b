#include "daemon/store/sqlite/sqlite_engine.h"

#include <sqlite3.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/store/sqlite/migrations.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

// Reads every page once: damage is found then, and not when a job needs the page.
absl::Status CheckUndamaged(Database& database) {
  Statement check(database, "PRAGMA quick_check(1)");
  ASSIGN_OR_RETURN(const bool row, check.Next());
  if (!row || check.Text(0) == "ok") {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat(
      database.path(), ": damaged: ", std::string(check.Text(0)),
      "; restore the file from a backup, or move it away to begin with an empty state"));
}

// WAL with synchronous=FULL: one fsync a commit, and readers beside the writer. What is erased is
// written over, so that no free page holds a secret.
absl::Status Configure(Database& database) {
  Statement wal(database, "PRAGMA journal_mode = WAL");
  ASSIGN_OR_RETURN(const bool row, wal.Next());
  if (!row || wal.Text(0) != "wal") {
    return absl::UnavailableError(
        absl::StrCat(database.path(),
                     ": its file system cannot hold a write-ahead log; put the "
                     "state directory on a local disk"));
  }
  wal.Reset();
  return database.Execute(
      "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = 0; "
      "PRAGMA journal_size_limit = 67108864; PRAGMA temp_store = MEMORY; "
      "PRAGMA secure_delete = ON");
}

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteEngine>> SqliteEngine::Open(const std::string& directory,
                                                                 std::uint64_t checked_first) {
  const std::string path = directory + "/state.db";
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteDatabase> writer,
                   SqliteDatabase::Open(path, SqliteDatabase::Mode::kReadWrite));
  std::error_code unknown;
  const bool is_large = std::filesystem::file_size(path, unknown) > checked_first && !unknown;
  RETURN_IF_ERROR(is_large ? absl::OkStatus() : CheckUndamaged(*writer));
  RETURN_IF_ERROR(CheckSchema(*writer));
  RETURN_IF_ERROR(Configure(*writer));
  RETURN_IF_ERROR(Migrate(*writer));
  std::unique_ptr<SqliteEngine> engine(new SqliteEngine(std::move(writer)));
  RETURN_IF_ERROR(is_large ? engine->CheckBeside() : absl::OkStatus());
  return engine;
}

SqliteEngine::~SqliteEngine() {
  if (checker_.joinable()) {
    sqlite3_interrupt(checked_->handle());
    checker_.join();
  }
}

absl::Status SqliteEngine::CheckBeside() {
  ASSIGN_OR_RETURN(checked_,
                   SqliteDatabase::Open(writer_->path(), SqliteDatabase::Mode::kReadOnly));
  checker_ = std::thread([this] {
    if (absl::Status found = CheckUndamaged(*checked_); absl::IsDataLoss(found)) {
      damage_ = std::move(found);
      damaged_ = true;
    }
  });
  return absl::OkStatus();
}

SqliteEngine::SqliteEngine(std::unique_ptr<SqliteDatabase> writer) : writer_(std::move(writer)) {
  const auto after_commit = [](void* self, sqlite3*, const char*, int pages) {
    auto* engine = static_cast<SqliteEngine*>(self);
    constexpr std::uint64_t kPageBytes = 4096 + 24;  // a page and its header in the log
    engine->log_bytes_ = static_cast<std::uint64_t>(pages) * kPageBytes;
    ++engine->transactions_;
    return SQLITE_OK;
  };
  sqlite3_wal_hook(writer_->handle(), after_commit, this);
}

absl::StatusOr<std::unique_ptr<Database>> SqliteEngine::OpenReader() {
  return SqliteDatabase::Open(writer_->path(), SqliteDatabase::Mode::kReadOnly);
}

absl::Status SqliteEngine::CheckpointAbove(std::uint64_t bytes) {
  if (log_bytes_ < checked_bytes_) {
    checked_bytes_ = 0;  // the log was truncated
  }
  if (log_bytes_ - checked_bytes_ <= bytes) {
    return absl::OkStatus();
  }
  checked_bytes_ = log_bytes_;
  return writer_->Execute("PRAGMA wal_checkpoint(PASSIVE)");
}

}  // namespace muster::daemon

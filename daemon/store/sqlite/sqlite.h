#pragma once

// A SQLite file as a Database.
//
// Thread promise: as Database's. Invariants: every error names the file and the mend; kUnavailable
// also stands for a file that is locked, kDataLoss also for I/O errors (of fsync above all: what
// the kernel dropped it will not say twice).

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/store/database/database.h"

struct sqlite3;

namespace muster::daemon {

class SqliteDatabase final : public Database {
 public:
  enum class Mode { kReadOnly, kReadWrite };
  // Opens the file; with kReadWrite makes it (mode 0600) when absent.
  static absl::StatusOr<std::unique_ptr<SqliteDatabase>> Open(const std::string& path, Mode mode);
  ~SqliteDatabase() override;

  absl::Status Execute(const std::string& sql) override;
  std::unique_ptr<Query> Prepare(const std::string& sql) override;
  absl::Status Begin(Kind kind) override;
  absl::Status Commit() override;
  void Rollback() override;
  [[nodiscard]] const char* numbers() const override { return "SELECT value FROM json_each(?)"; }

  // What the last call that failed on this database means.
  [[nodiscard]] absl::Status LastError() const;
  [[nodiscard]] sqlite3* handle() const { return handle_; }

 private:
  SqliteDatabase(std::string path, sqlite3* handle) : Database(std::move(path)), handle_(handle) {}
  sqlite3* const handle_;
};

}  // namespace muster::daemon

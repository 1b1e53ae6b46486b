#pragma once

// SQLite with owners: a Database, a Statement, a Transaction that rolls back unless committed.
//
// Thread promise: a Database and everything made from it belong to one thread at a time. Values
// reach SQL by bound parameters only. Invariants: (1) a Statement does not outlive its Database;
// (2) every error names the file and the mend; its code says what kind it is: kResourceExhausted
// for a full disk, kUnavailable for a file that cannot be written or is locked, kDataLoss for
// damage and for I/O errors (of fsync above all: what the kernel dropped it will not say twice),
// kInternal for a mistake of ours.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct sqlite3;
struct sqlite3_stmt;

namespace muster::daemon {

class Database {
 public:
  enum class Mode { kReadOnly, kReadWrite };
  // Opens the file; with kReadWrite makes it (mode 0600) when absent.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& path, Mode mode);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  // Runs SQL that has no parameters and whose rows are not needed.
  absl::Status Execute(const std::string& sql);
  // The first column of the first row of `sql`; 0 when there is none.
  absl::StatusOr<std::int64_t> ReadInteger(const std::string& sql);

  // What the last call that failed on this database means.
  [[nodiscard]] absl::Status LastError() const;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] sqlite3* handle() const { return handle_; }

 private:
  Database(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}
  const std::string path_;
  sqlite3* const handle_;
};

// Bytes to bind; they must stay until the statement has been run.
struct Blob {
  std::string_view bytes;
};

class Statement {
 public:
  // Prepares `sql`. The first Run() or Next() reports a failure.
  Statement(Database& database, const std::string& sql);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  // Binds all parameters, in order, and runs the statement for its effect.
  template <class... Values>
  absl::Status Run(const Values&... values) {
    Start(values...);
    const absl::StatusOr<bool> row = Next();
    Reset();
    return row.ok() ? absl::OkStatus() : row.status();
  }
  // Binds all parameters, in order; the rows come with Next().
  template <class... Values>
  void Start(const Values&... values) {
    Reset();
    [[maybe_unused]] int index = 0;
    (Bind(++index, values), ...);
    CheckAllBound(index);
  }
  // Goes to the next row; false when there is none.
  absl::StatusOr<bool> Next();
  // Ends a reading early; Run() and a Next() without a row do it by themselves.
  void Reset();

  void Bind(int index, std::int64_t value);
  void Bind(int index, std::uint64_t value) { Bind(index, static_cast<std::int64_t>(value)); }
  void Bind(int index, std::int32_t value) { Bind(index, std::int64_t{value}); }
  void Bind(int index, std::uint32_t value) { Bind(index, std::int64_t{value}); }
  void Bind(int index, std::string_view value);
  void Bind(int index, const std::string& value) { Bind(index, std::string_view(value)); }
  void Bind(int index, const char* value) { Bind(index, std::string_view(value)); }
  void Bind(int index, Blob value);
  void Bind(int index, std::optional<std::int64_t> value);  // nullopt: NULL

  // Columns of the row, from 0. Text and bytes are valid until the next call of Next() or Reset().
  [[nodiscard]] bool IsNull(int column) const;
  [[nodiscard]] std::int64_t Integer(int column) const;
  [[nodiscard]] std::uint64_t Unsigned(int column) const {
    return static_cast<std::uint64_t>(Integer(column));
  }
  [[nodiscard]] std::string_view Text(int column) const;
  [[nodiscard]] std::string_view Bytes(int column) const;

 private:
  void Keep(int code);
  void CheckAllBound(int bound) const;
  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
  absl::Status failed_;  // why it was not prepared, or the first failed Bind of this run
  bool prepared_ = false;
};

class Transaction {
 public:
  enum class Kind { kRead, kWrite };
  explicit Transaction(Database& database) : database_(database) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();  // rolls back what was begun and not committed
  absl::Status Begin(Kind kind);
  absl::Status Commit();

 private:
  Database& database_;
  bool open_ = false;
};

}  // namespace muster::daemon

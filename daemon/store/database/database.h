#pragma once

// A database as the store uses it: a Database, a Statement, a Transaction that rolls back unless
// committed. What SQLite and PostgreSQL have in common.
//
// SQL is the part of the language that both engines understand; a parameter is a question mark, and
// values reach SQL by parameters only. Thread promise: a Database and everything made from it
// belong to one thread at a time. Invariants: (1) a Statement does not outlive its Database; (2)
// every error names the database and the mend; its code says what kind it is: kResourceExhausted
// for a full disk, kUnavailable for a database that cannot be written or reached, kDataLoss for
// damage and for I/O errors of a file, kFailedPrecondition for a writer that leads no more,
// kInternal for a mistake of ours.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::daemon {

// Bytes to bind; they must stay until the statement has been run.
struct Blob {
  std::string_view bytes;
};

// One prepared statement, as an engine runs it. Parameters count from 1, columns from 0.
class Query {
 public:
  virtual ~Query() = default;
  virtual void BindInteger(int index, std::optional<std::int64_t> value) = 0;  // nullopt: NULL
  virtual void BindText(int index, std::string_view value) = 0;
  virtual void BindBytes(int index, std::string_view value) = 0;
  // Runs it for its effect. In a writing transaction an engine may send it on and say at Commit, or
  // with the next row that is asked for, that it failed.
  virtual absl::Status Run() = 0;
  // Goes to the next row; false when there is none.
  virtual absl::StatusOr<bool> Next() = 0;
  virtual void Reset() = 0;
  // How many it has; nothing when it could not be prepared.
  [[nodiscard]] virtual std::optional<int> parameters() const = 0;
  [[nodiscard]] virtual bool IsNull(int column) const = 0;
  [[nodiscard]] virtual std::int64_t Integer(int column) const = 0;
  [[nodiscard]] virtual std::string_view Text(int column) const = 0;
  [[nodiscard]] virtual std::string_view Bytes(int column) const = 0;
};

class Database {
 public:
  enum class Kind { kRead, kWrite };  // of a transaction
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  virtual ~Database() = default;

  // Runs SQL that has no parameters and whose rows are not needed.
  virtual absl::Status Execute(const std::string& sql) = 0;
  // The first Run() or Next() reports a failure.
  virtual std::unique_ptr<Query> Prepare(const std::string& sql) = 0;
  virtual absl::Status Begin(Kind kind) = 0;
  virtual absl::Status Commit() = 0;
  virtual void Rollback() = 0;
  // A query with one parameter, a list as NumberList writes it, and its numbers as rows.
  [[nodiscard]] virtual const char* numbers() const = 0;

  // The first column of the first row of `sql`; 0 when there is none.
  absl::StatusOr<std::int64_t> ReadInteger(const std::string& sql);
  // Where it is, for messages.
  [[nodiscard]] const std::string& path() const { return path_; }

 protected:
  explicit Database(std::string path) : path_(std::move(path)) {}

 private:
  const std::string path_;
};

class Statement {
 public:
  // Prepares `sql`. The first Run() or Next() reports a failure.
  Statement(Database& database, const std::string& sql) : query_(database.Prepare(sql)) {}
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Binds all parameters, in order, and runs the statement for its effect (see Query::Run).
  template <class... Values>
  absl::Status Run(const Values&... values) {
    Start(values...);
    return query_->Run();
  }
  // The same with what Bind() was given.
  absl::Status Execute() { return query_->Run(); }
  // Binds all parameters, in order; the rows come with Next().
  template <class... Values>
  void Start(const Values&... values) {
    Reset();
    [[maybe_unused]] int index = 0;
    (Bind(++index, values), ...);
    CheckAllBound(index);
  }
  // Goes to the next row; false when there is none.
  absl::StatusOr<bool> Next() { return query_->Next(); }
  // Ends a reading early; Run() and a Next() without a row do it by themselves.
  void Reset() { query_->Reset(); }

  void Bind(int index, std::int64_t value) { query_->BindInteger(index, value); }
  void Bind(int index, std::uint64_t value) { Bind(index, static_cast<std::int64_t>(value)); }
  void Bind(int index, std::int32_t value) { Bind(index, std::int64_t{value}); }
  void Bind(int index, std::uint32_t value) { Bind(index, std::int64_t{value}); }
  void Bind(int index, std::string_view value) { query_->BindText(index, value); }
  void Bind(int index, const std::string& value) { Bind(index, std::string_view(value)); }
  void Bind(int index, const char* value) { Bind(index, std::string_view(value)); }
  void Bind(int index, Blob value) { query_->BindBytes(index, value.bytes); }
  void Bind(int index, std::optional<std::int64_t> value) { query_->BindInteger(index, value); }

  // Columns of the row, from 0. Text and bytes are valid until the next call of Next() or Reset().
  [[nodiscard]] bool IsNull(int column) const { return query_->IsNull(column); }
  [[nodiscard]] std::int64_t Integer(int column) const { return query_->Integer(column); }
  [[nodiscard]] std::uint64_t Unsigned(int column) const {
    return static_cast<std::uint64_t>(Integer(column));
  }
  [[nodiscard]] std::string_view Text(int column) const { return query_->Text(column); }
  [[nodiscard]] std::string_view Bytes(int column) const { return query_->Bytes(column); }

 private:
  void CheckAllBound(int bound) const;
  const std::unique_ptr<Query> query_;
};

class Transaction {
 public:
  using Kind = Database::Kind;
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

// Numbers as one text, for Database::numbers().
template <class Number>
std::string NumberList(const std::vector<Number>& numbers) {
  std::string list = "[";
  for (const Number number : numbers) {
    list += (list.size() > 1 ? "," : "") + std::to_string(number);
  }
  return list + "]";
}

}  // namespace muster::daemon

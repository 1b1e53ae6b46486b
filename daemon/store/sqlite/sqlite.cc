#include "daemon/store/sqlite/sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>

#include <cerrno>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::daemon {
namespace {

constexpr int kBusyMilliseconds = 5000;

bool MeansFull(int code, int error) {
  if (code == SQLITE_FULL) {
    return true;
  }
  const bool syncing = code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC;
  return (code & 0xff) == SQLITE_IOERR && !syncing &&
         (error == ENOSPC || error == EDQUOT || error == EFBIG);
}

absl::Status Classify(int code, int error, const std::string& what) {
  if (MeansFull(code, error)) {
    return absl::ResourceExhaustedError(
        absl::StrCat(what, "; free space on its file system, or raise the quota"));
  }
  switch (code & 0xff) {
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return absl::UnavailableError(
          absl::StrCat(what, "; make the file and its directory writable by this user"));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::UnavailableError(
          absl::StrCat(what, "; stop the other program that has the file open"));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::DataLossError(absl::StrCat(
          what, "; restore the file from a backup, or move it away to begin with an empty state"));
    case SQLITE_IOERR:
      return absl::DataLossError(
          absl::StrCat(what, "; look for disk errors in the kernel's log, then start again"));
    default:
      return absl::InternalError(what);
  }
}

// The errno of the last failure of one of the database's files: 0 when it had none.
int LastErrnoOf(sqlite3* handle, int which) {
  sqlite3_file* file = nullptr;
  int error = 0;
  if (sqlite3_file_control(handle, "main", which, &file) == SQLITE_OK && file != nullptr &&
      file->pMethods != nullptr) {
    file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &error);
  }
  return error;
}

// Why the kernel refused. A failed commit leaves it with the file and not with the connection.
int ErrnoOf(sqlite3* handle, int code) {
  if ((code & 0xff) != SQLITE_IOERR) {
    return sqlite3_system_errno(handle);
  }
  const int of_log = LastErrnoOf(handle, SQLITE_FCNTL_JOURNAL_POINTER);
  return of_log != 0 ? of_log : LastErrnoOf(handle, SQLITE_FCNTL_FILE_POINTER);
}

absl::Status MakeError(const std::string& path, sqlite3* handle, int code) {
  const int error = handle == nullptr ? 0 : ErrnoOf(handle, code);
  std::string what =
      absl::StrCat(path, ": ", handle == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle));
  if ((code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN) {
    const std::string cause = error == 0 ? "" : ", " + std::generic_category().message(error);
    absl::StrAppend(&what, " (SQLite's code ", code, cause, ")");
  }
  return Classify(code, error, what);
}

// The log and the shared memory beside the file take its mode, so it is ours alone from the start.
absl::Status MakePrivateFile(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) {
    const int error = errno;
    const bool full = error == ENOSPC || error == EDQUOT;
    return Classify(full ? SQLITE_FULL : SQLITE_CANTOPEN, error,
                    absl::StrCat(path, ": cannot open: ", std::generic_category().message(error)));
  }
  return absl::OkStatus();
}

class SqliteQuery final : public Query {
 public:
  SqliteQuery(const SqliteDatabase& database, const std::string& sql) : database_(database) {
    const int code = sqlite3_prepare_v3(database.handle(), sql.c_str(), -1,
                                        SQLITE_PREPARE_PERSISTENT, &statement_, nullptr);
    prepared_ = code == SQLITE_OK;
    if (!prepared_) {
      failed_ = database.LastError();
    }
  }
  SqliteQuery(const SqliteQuery&) = delete;
  SqliteQuery& operator=(const SqliteQuery&) = delete;
  ~SqliteQuery() override { sqlite3_finalize(statement_); }

  void BindInteger(int index, std::optional<std::int64_t> value) override {
    Keep(value.has_value() ? sqlite3_bind_int64(statement_, index, *value)
                           : sqlite3_bind_null(statement_, index));
  }
  void BindText(int index, std::string_view value) override {
    Keep(sqlite3_bind_text64(statement_, index, value.data() == nullptr ? "" : value.data(),
                             value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  }
  void BindBytes(int index, std::string_view value) override {
    Keep(sqlite3_bind_blob64(statement_, index, value.data() == nullptr ? "" : value.data(),
                             value.size(), SQLITE_STATIC));
  }
  absl::Status Run() override {
    const absl::StatusOr<bool> row = Next();
    Reset();
    return row.ok() ? absl::OkStatus() : row.status();
  }
  absl::StatusOr<bool> Next() override;
  void Reset() override {
    if (prepared_) {
      sqlite3_reset(statement_);
      failed_ = absl::OkStatus();
    }
  }
  [[nodiscard]] std::optional<int> parameters() const override {
    return prepared_ ? std::optional(sqlite3_bind_parameter_count(statement_)) : std::nullopt;
  }
  [[nodiscard]] bool IsNull(int column) const override {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
  }
  [[nodiscard]] std::int64_t Integer(int column) const override {
    return sqlite3_column_int64(statement_, column);
  }
  [[nodiscard]] std::string_view Text(int column) const override {
    return Column(sqlite3_column_text(statement_, column), column);
  }
  [[nodiscard]] std::string_view Bytes(int column) const override {
    return Column(sqlite3_column_blob(statement_, column), column);
  }

 private:
  void Keep(int code) {
    if (code != SQLITE_OK && failed_.ok()) {
      failed_ = database_.LastError();
    }
  }
  [[nodiscard]] std::string_view Column(const void* bytes, int column) const {
    return bytes == nullptr
               ? std::string_view()
               : std::string_view(static_cast<const char*>(bytes),
                                  static_cast<std::size_t>(
                                      sqlite3_column_bytes(statement_, column)));
  }

  const SqliteDatabase& database_;
  sqlite3_stmt* statement_ = nullptr;
  absl::Status failed_;  // why it was not prepared, or the first failed Bind of this run
  bool prepared_ = false;
};

absl::StatusOr<bool> SqliteQuery::Next() {
  RETURN_IF_ERROR(failed_);
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) {
    return true;
  }
  if (code == SQLITE_DONE) {
    Reset();
    return false;
  }
  const absl::Status status = database_.LastError();
  Reset();
  return status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteDatabase>> SqliteDatabase::Open(const std::string& path,
                                                                     Mode mode) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  if (mode == Mode::kReadWrite) {
    RETURN_IF_ERROR(MakePrivateFile(path));
    flags |= SQLITE_OPEN_READWRITE;
  } else {
    flags |= SQLITE_OPEN_READONLY;
  }
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  if (code != SQLITE_OK) {
    const absl::Status status = MakeError(path, handle, code);
    sqlite3_close_v2(handle);
    return status;
  }
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  return std::unique_ptr<SqliteDatabase>(new SqliteDatabase(path, handle));
}

SqliteDatabase::~SqliteDatabase() {
  sqlite3_close_v2(handle_);
}

absl::Status SqliteDatabase::LastError() const {
  return MakeError(path(), handle_, sqlite3_extended_errcode(handle_));
}

absl::Status SqliteDatabase::Execute(const std::string& sql) {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return LastError();
  }
  return absl::OkStatus();
}

std::unique_ptr<Query> SqliteDatabase::Prepare(const std::string& sql) {
  return std::make_unique<SqliteQuery>(*this, sql);
}

absl::Status SqliteDatabase::Begin(Kind kind) {
  return Execute(kind == Kind::kWrite ? "BEGIN IMMEDIATE" : "BEGIN");
}

absl::Status SqliteDatabase::Commit() {
  return Execute("COMMIT");
}

// Some failures have rolled back already; then there is nothing to do.
void SqliteDatabase::Rollback() {
  if (sqlite3_get_autocommit(handle_) == 0) {
    sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

}  // namespace muster::daemon

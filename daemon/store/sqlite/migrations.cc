#include "daemon/store/sqlite/migrations.h"

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

// "MUST", in the file's header: tells our file from another program's.
constexpr std::int64_t kApplicationId = 0x4d555354;

absl::Status Take(Database& database, const Migration& migration) {
  Transaction transaction(database);
  RETURN_IF_ERROR(transaction.Begin(Transaction::Kind::kWrite));
  RETURN_IF_ERROR(database.Execute(migration.sql));
  RETURN_IF_ERROR(database.Execute(absl::StrCat("PRAGMA application_id = ", kApplicationId)));
  RETURN_IF_ERROR(database.Execute(absl::StrCat("PRAGMA user_version = ", migration.version)));
  return transaction.Commit();
}

}  // namespace

absl::Status CheckSchema(Database& database, std::span<const Migration> migrations) {
  const std::int64_t newest = migrations.empty() ? 0 : migrations.back().version;
  ASSIGN_OR_RETURN(const std::int64_t version, database.ReadInteger("PRAGMA user_version"));
  ASSIGN_OR_RETURN(const std::int64_t owner, database.ReadInteger("PRAGMA application_id"));
  ASSIGN_OR_RETURN(const std::int64_t objects,
                   database.ReadInteger("SELECT count(*) FROM sqlite_schema"));
  const bool fresh = objects == 0 && version == 0;
  if (owner != kApplicationId && !fresh) {
    return absl::FailedPreconditionError(absl::StrCat(
        database.path(), ": not a database of Muster; move it away or choose another directory"));
  }
  if (version > newest) {
    return absl::FailedPreconditionError(
        absl::StrCat(database.path(), ": written by a newer Muster (schema ", version,
                     ", this program knows ", newest, "); start that version instead"));
  }
  return absl::OkStatus();
}

absl::Status Migrate(Database& database, std::span<const Migration> migrations) {
  RETURN_IF_ERROR(CheckSchema(database, migrations));
  ASSIGN_OR_RETURN(const std::int64_t version, database.ReadInteger("PRAGMA user_version"));
  for (const Migration& migration : migrations) {
    if (migration.version > version) {
      RETURN_IF_ERROR(Take(database, migration));
    }
  }
  return absl::OkStatus();
}

}  // namespace muster::daemon

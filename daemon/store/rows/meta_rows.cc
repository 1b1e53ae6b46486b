#include "daemon/store/rows/meta_rows.h"

#include "scheduler/base/status.h"

namespace muster::daemon {

absl::StatusOr<std::int64_t> ReadMeta(Database& database, const char* key) {
  Statement row(database, "SELECT value FROM meta WHERE key = ?");
  row.Start(key);
  ASSIGN_OR_RETURN(const bool found, row.Next());
  return found ? row.Integer(0) : 0;
}

absl::Status PutMeta(Database& database, const char* key, std::int64_t value) {
  Statement put(database,
                "INSERT INTO meta VALUES (?, ?) "
                "ON CONFLICT (key) DO UPDATE SET value = excluded.value");
  return put.Run(key, value);
}

absl::Status RaiseMeta(Database& database, const char* key, std::int64_t value) {
  Statement raise(database,
                  "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = "
                  "CASE WHEN excluded.value > meta.value THEN excluded.value ELSE meta.value END");
  return raise.Run(key, value);
}

}  // namespace muster::daemon

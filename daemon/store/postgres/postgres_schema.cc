#include "daemon/store/postgres/postgres_schema.h"

#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "daemon/store/database/schema.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

// One row. lease_end is by this database's clock; session counts the leader's connections.
constexpr const char* kLeaderTable = R"sql(
CREATE TABLE muster_leader (
  id             BIGINT PRIMARY KEY CHECK (id = 1),
  schema_version BIGINT NOT NULL,
  cluster        TEXT NOT NULL,
  epoch          BIGINT NOT NULL DEFAULT 0,
  session        BIGINT NOT NULL DEFAULT 0,
  holder         TEXT NOT NULL DEFAULT '',
  addresses      TEXT NOT NULL DEFAULT '',
  successor      TEXT NOT NULL DEFAULT '',
  lease_end      TIMESTAMPTZ NOT NULL DEFAULT 'epoch',
  job_key        TEXT NOT NULL DEFAULT '',
  tokens         TEXT NOT NULL DEFAULT ''
)
)sql";
// Of tables that were made before tokens were shared.
constexpr const char* kTokensColumn =
    "ALTER TABLE muster_leader ADD COLUMN IF NOT EXISTS tokens TEXT NOT NULL DEFAULT ''";
constexpr const char* kOneAtATime = "BEGIN; SELECT pg_advisory_xact_lock(7117, 25)";

struct Found {
  bool ours = false;
  std::int64_t tables = 0;
  std::int64_t schema = 0;
  bool led = false;
  bool has_tokens = false;  // the column
  std::string cluster;
  std::string holder;
};

absl::Status Refused(const PostgresDatabase& database, const std::string& why) {
  return absl::FailedPreconditionError(absl::StrCat(database.path(), ": ", why));
}

absl::StatusOr<Found> LookAround(PostgresDatabase& database) {
  Found found;
  ASSIGN_OR_RETURN(const std::int64_t places,
                   database.ReadInteger("SELECT count(current_schema())"));
  if (places == 0) {
    return Refused(database,
                   "the role has no schema to make tables in: give it one with CREATE SCHEMA, or "
                   "set its search_path");
  }
  ASSIGN_OR_RETURN(found.tables, database.ReadInteger(
                                     "SELECT count(*) FROM pg_class JOIN pg_namespace ON "
                                     "pg_namespace.oid = relnamespace WHERE nspname = "
                                     "current_schema() AND relkind IN ('r', 'p', 'v', 'm', 'f')"));
  ASSIGN_OR_RETURN(const std::int64_t ours,
                   database.ReadInteger("SELECT count(to_regclass('muster_leader'))"));
  if (ours == 0) {
    return found;
  }
  Statement row(database,
                "SELECT schema_version, cluster, holder, "
                "CASE WHEN lease_end > clock_timestamp() THEN 1 ELSE 0 END FROM muster_leader");
  ASSIGN_OR_RETURN(found.ours, row.Next());
  if (!found.ours) {
    return Refused(database,
                   "half made: muster_leader has no row; restore the database from a backup, or "
                   "make an empty one");
  }
  found.schema = row.Integer(0);
  found.cluster = std::string(row.Text(1));
  found.holder = std::string(row.Text(2));
  found.led = row.Integer(3) != 0;
  ASSIGN_OR_RETURN(const std::int64_t columns,
                   database.ReadInteger("SELECT count(*) FROM pg_attribute WHERE attrelid = "
                                        "'muster_leader'::regclass AND attname = 'tokens'"));
  found.has_tokens = columns != 0;
  return found;
}

absl::Status CheckFound(const PostgresDatabase& database, const Found& found,
                        const std::string& cluster) {
  const std::int64_t newest = Migrations().back().version;
  if (!found.ours && found.tables > 0) {
    return Refused(database,
                   "holds tables that are not Muster's: name an empty database (createdb)");
  }
  if (!found.ours) {
    return absl::OkStatus();
  }
  if (found.cluster != cluster) {
    return Refused(database, absl::StrCat("is the store of cluster ", found.cluster, ", not of ",
                                          cluster, ": correct store or cluster"));
  }
  if (found.schema > newest) {
    return Refused(database,
                   absl::StrCat("written by a newer Muster (schema ", found.schema,
                                ", this program knows ", newest, "); start that version instead"));
  }
  if (found.schema < newest && found.led) {
    return Refused(database, absl::StrCat(found.holder, " leads with an older Muster (schema ",
                                          found.schema, "); stop it, then start this one again"));
  }
  return absl::OkStatus();
}

// Every column that the steps make is there.
absl::Status CheckWhole(PostgresDatabase& database) {
  std::set<std::pair<std::string, std::string>> there;
  Statement rows(database,
                 "SELECT table_name::text, column_name::text FROM information_schema.columns "
                 "WHERE table_schema = current_schema()");
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) {
      break;
    }
    there.emplace(rows.Text(0), rows.Text(1));
  }
  for (const TableOf& table : Tables()) {
    for (const std::string& column : std::vector<std::string>(
             absl::StrSplit(absl::StrReplaceAll(table.columns, {{"\"", ""}}), ", "))) {
      if (!there.contains({table.name, column})) {
        return Refused(database,
                       absl::StrCat("half migrated: ", table.name, " has no column ", column,
                                    ", or the role may not see it; restore the database from a "
                                    "backup, or make the role its owner"));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status TakeSteps(PostgresDatabase& database, const Found& found, const std::string& cluster) {
  if (!found.ours) {
    RETURN_IF_ERROR(database.Execute(kLeaderTable));
    Statement row(database,
                  "INSERT INTO muster_leader (id, schema_version, cluster) VALUES (1, 0, ?)");
    RETURN_IF_ERROR(row.Run(cluster));
  } else if (!found.has_tokens) {
    RETURN_IF_ERROR(database.Execute(kTokensColumn));
  }
  for (const Migration& migration : Migrations()) {
    if (migration.version > found.schema) {
      RETURN_IF_ERROR(database.Execute(PostgresSql(migration.sql)));
      Statement number(database, "UPDATE muster_leader SET schema_version = ? WHERE id = 1");
      RETURN_IF_ERROR(number.Run(migration.version));
    }
  }
  return database.Execute("COMMIT");
}

}  // namespace

std::string PostgresSql(const std::string& sqlite) {
  return absl::StrReplaceAll(sqlite, {{"INTEGER PRIMARY KEY /* counted */",
                                       "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"},
                                      {"INTEGER", "BIGINT"},
                                      {"BLOB", "BYTEA"},
                                      {"TEXT", "TEXT COLLATE \"C\""},  // as SQLite orders them
                                      {") STRICT, WITHOUT ROWID;", ");"},
                                      {") STRICT;", ");"}});
}

absl::Status PreparePostgres(PostgresDatabase& database, const std::string& cluster) {
  ASSIGN_OR_RETURN(Found found, LookAround(database));
  RETURN_IF_ERROR(CheckFound(database, found, cluster));
  if (!found.ours || !found.has_tokens || found.schema < Migrations().back().version) {
    RETURN_IF_ERROR(database.Execute(kOneAtATime));
    absl::Status status;
    // Another controller may have been first.
    absl::StatusOr<Found> again = LookAround(database);
    status = again.ok() ? CheckFound(database, *again, cluster) : again.status();
    status = status.ok() ? TakeSteps(database, *again, cluster) : status;
    if (!status.ok()) {
      database.Rollback();
      return status;
    }
  }
  return CheckWhole(database);
}

}  // namespace muster::daemon

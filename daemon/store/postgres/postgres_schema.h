#pragma once

// The tables in PostgreSQL: the steps of schema.h in its words, and the row that says whose they
// are, how far they got, and who leads.
//
// The row is locked while a step is taken, and a step and its number are one transaction. Thread
// promise: belongs to the thread of its database. Invariant: a database that is refused is not
// written.

#include <string>

#include "absl/status/status.h"
#include "daemon/store/postgres/postgres.h"

namespace muster::daemon {

// A step of SQLite's in PostgreSQL's words.
std::string PostgresSql(const std::string& sqlite);

// Takes an empty database, or an older one that nobody leads, to this program's schema.
// kFailedPrecondition is one line: newer, of another cluster, of another program, half migrated,
// or in use by an older program.
absl::Status PreparePostgres(PostgresDatabase& database, const std::string& cluster);

}  // namespace muster::daemon

#pragma once

// The schema in a SQLite file.
//
// `PRAGMA user_version` is the number of the last step taken; a step and its number are one
// transaction, so a crash leaves the version before or the version after. Thread promise: Migrate
// belongs to the thread of its database.

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "daemon/store/database/database.h"
#include "daemon/store/database/schema.h"

namespace muster::daemon {

// kFailedPrecondition when the database is newer than the last step, or is another program's.
// Changes nothing.
absl::Status CheckSchema(Database& database, std::span<const Migration> migrations = Migrations());

// Takes the database to the version of the last step; refuses what CheckSchema refuses.
absl::Status Migrate(Database& database, std::span<const Migration> migrations = Migrations());

}  // namespace muster::daemon

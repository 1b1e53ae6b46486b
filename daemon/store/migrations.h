#pragma once

// The schema of state.db, as numbered steps that each take a database one version further.
//
// `PRAGMA user_version` is the number of the last step taken; a step and its number are one
// transaction, so a crash leaves the version before or the version after. A step that was released
// is never edited: a change of the schema is a further step. Thread promise: Migrate belongs to the
// thread of its database.
//
// Grammar of the file, version 1 (times are UTC milliseconds, NULL for "never"; payloads are the
// wire's messages):
//
//   journal      one row an event, versions without a gap; kind is the wire's field name.
//                A job_submitted lacks spec and program: they are in the next two tables.
//   submissions  one row a submission of `count` jobs with ids first, first+1, …; open counts those
//                that have not ended. An element with neither a jobs nor a history row is a job as
//                it was submitted, so an array of any size costs one row.
//   programs     what runs: large, and read at a launch only
//   jobs         live jobs that differ from what was submitted
//   history      jobs that ended; detail is a JobDetail without attempts
//   attempts     attempts that ended; detail is an AttemptView
//   steps        version names the step_started or step_queued entry that has its program; NULL for
//                the step that a run job begins with; open: nodes that have not said that it ended
//   nodes        every node that ever registered
//   meta         'epoch': the newest controller's

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "daemon/store/sqlite.h"

namespace muster::daemon {

struct Migration {
  std::int64_t version;
  const char* sql;
};

// The steps that this program knows, ascending from 1.
std::span<const Migration> Migrations();

// kFailedPrecondition when the database is newer than the last step, or is another program's.
// Changes nothing.
absl::Status CheckSchema(Database& database, std::span<const Migration> migrations = Migrations());

// Takes the database to the version of the last step; refuses what CheckSchema refuses.
absl::Status Migrate(Database& database, std::span<const Migration> migrations = Migrations());

}  // namespace muster::daemon

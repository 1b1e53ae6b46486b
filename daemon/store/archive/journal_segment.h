#pragma once

// The rows of the archive's files: a state that a journal begins with, and entries after it.
//
// Thread promise: belongs to the threads of the databases. Invariants: (1) a file holds no secret
// of a program, but scripts where they are kept; (2) entries are whole: what the store has of them
// in other tables is within.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/store/database/database.h"
#include "daemon/store/rows/batch.h"
#include "daemon/store/rows/program_secret.h"
#include "scheduler/model/value/ids.h"

namespace muster::daemon {

// Copies the rows of the state to the empty tables of `file`, of which the journal begins after it;
// returns their version.
absl::StatusOr<Version> CopyState(Database& store, Database& file);

// Copies the entries from the journal's beginning in `file` until `last`, and their cycles.
absl::Status CopyEntries(Database& store, Database& file, Version last, Scripts scripts);

// What of the entries until `last` is kept no longer, in pieces of a few milliseconds, once they
// are archived. The journal begins after it with the first piece.
absl::StatusOr<std::vector<Drops>> FindDroppedEntries(Database& store, Version last);

}  // namespace muster::daemon

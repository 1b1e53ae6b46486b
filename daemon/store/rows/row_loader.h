#pragma once

// Puts rows of ended jobs back that were in the archive.
//
// Thread promise: belongs to the thread of its database; the caller holds the transaction.
// Invariants: (1) no row that is there changes; (2) what was loaded is known as such, until it goes
// again.

#include "absl/status/status.h"
#include "daemon/store/database/database.h"
#include "daemon/store/rows/batch.h"

namespace muster::daemon {

absl::Status LoadRows(Database& database, const Loads& loads);

}  // namespace muster::daemon

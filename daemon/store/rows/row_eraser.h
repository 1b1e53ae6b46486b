#pragma once

// Takes out rows that are kept no longer: of the journal what the archive has, of the history what
// ended long ago, nodes that are gone.
//
// Thread promise: belongs to the thread of its database; the caller holds the transaction.
// Invariants: (1) changes of policy stay; (2) ids that were given out stay given out, and the
// number of the last entry stays the last; (3) a submission goes with or after its jobs.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "daemon/store/database/database.h"
#include "daemon/store/rows/batch.h"

namespace muster::daemon {

// Ids as Database::numbers() takes them.
std::string ListOf(const std::vector<JobId>& ids);

absl::Status EraseRows(Database& database, const Drops& drops);
// A node that was forgotten, and what was known of its health.
absl::Status EraseNode(Database& database, NodeId node);

}  // namespace muster::daemon

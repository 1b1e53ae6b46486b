#pragma once

// The state image out of the rows: the reading half of the schema, used at start.
//
// Costs as much as there are live jobs, however long the history. Thread promise: belongs to the
// thread of its database. Invariants: (1) the image is of one version: all is read in one
// transaction; (2) rows that contradict each other are an error, never a guess.

#include "absl/status/statusor.h"
#include "daemon/store/database/database.h"
#include "scheduler/model/change/state_image.h"

namespace muster::daemon {

// How many of the newest client tokens an image holds.
inline constexpr int kTokensKept = 65536;

// kDataLoss names the row that cannot be read or contradicts another.
absl::StatusOr<StateImage> ReadState(Database& database);
// The same within the caller's transaction.
absl::StatusOr<StateImage> ReadStateWithin(Database& database);

// The version of the last journal entry; invalid (0) in an empty journal.
absl::StatusOr<Version> ReadVersion(Database& database);

}  // namespace muster::daemon

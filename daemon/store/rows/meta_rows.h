#pragma once

// Numbers of the whole store, by name (see meta in store/database/schema.h).
//
// Thread promise: belongs to the thread of its database; the caller holds the transaction. For what
// happens now and then: a statement is prepared for each call.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/store/database/database.h"

namespace muster::daemon {

// 0 when there is none.
absl::StatusOr<std::int64_t> ReadMeta(Database& database, const char* key);
absl::Status PutMeta(Database& database, const char* key, std::int64_t value);
// Leaves a number that is higher as it is.
absl::Status RaiseMeta(Database& database, const char* key, std::int64_t value);

}  // namespace muster::daemon

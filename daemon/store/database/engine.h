#pragma once

// What a store asks of its engine besides SQL: connections, and the fence round its writer.
//
// Thread promise: writer(), Fence, Settle and CheckpointAbove belong to the thread that commits;
// the rest is safe from any thread. Invariants: (1) Open has checked the schema and taken it to
// this program's, or has written nothing; (2) a transaction that began with Fence is committed only
// if nobody else has taken the lead meanwhile.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/store/database/database.h"
#include "daemon/store/database/leadership.h"

namespace muster::daemon {

class StoreEngine {
 public:
  StoreEngine() = default;
  StoreEngine(const StoreEngine&) = delete;
  StoreEngine& operator=(const StoreEngine&) = delete;
  virtual ~StoreEngine() = default;

  // The connection that writes.
  virtual Database& writer() = 0;
  // A connection that reads what is committed.
  virtual absl::StatusOr<std::unique_ptr<Database>> OpenReader() = 0;
  // The first statement of each writing transaction: it fails if another leads.
  virtual absl::Status Fence() = 0;
  // The last one of those that add to the journal.
  virtual absl::Status Announce() = 0;
  // After a commit that failed: returns OK once nothing of it can become durable any more.
  virtual absl::Status Settle() = 0;
  // Rows came from another store: the numbers that the database counts go on after theirs.
  virtual absl::Status CountOn() = 0;
  // See JobStore.
  virtual absl::Status CheckpointAbove(std::uint64_t bytes) = 0;
  // Transactions committed since it was opened.
  [[nodiscard]] virtual std::uint64_t transactions() const = 0;
  // The row that says who leads; null where one process alone can open the database.
  virtual Leadership* leadership() = 0;
};

}  // namespace muster::daemon

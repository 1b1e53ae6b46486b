#pragma once

// PostgreSQL behind a store: many controllers, of which the database lets one write.
//
// Each writing transaction begins with the leader's epoch and the number of its session, under a
// lock of the row that holds both; it fails when another leads, and so does what an older
// connection of the leader's own sends late. Thread promise: as StoreEngine's. Invariant: nothing
// is written before the lead was taken.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/store/database/engine.h"
#include "daemon/store/postgres/postgres.h"

namespace muster::daemon {

class PostgresEngine final : public StoreEngine {
 public:
  // Connects to the database of `cluster`, and takes it to this program's schema.
  static absl::StatusOr<std::unique_ptr<PostgresEngine>> Open(const PostgresPlace& place,
                                                              const std::string& cluster);
  ~PostgresEngine() override;

  Database& writer() override { return *writer_; }
  absl::StatusOr<std::unique_ptr<Database>> OpenReader() override;
  absl::Status Fence() override;
  absl::Status Announce() override;
  absl::Status Settle() override;
  absl::Status CountOn() override;
  absl::Status CheckpointAbove(std::uint64_t /*bytes*/) override { return absl::OkStatus(); }
  [[nodiscard]] std::uint64_t transactions() const override { return writer_->transactions(); }
  Leadership* leadership() override;

 private:
  PostgresEngine(PostgresPlace place, std::unique_ptr<PostgresDatabase> writer,
                 std::unique_ptr<PostgresDatabase> row);

  const PostgresPlace place_;
  std::atomic<std::uint64_t> epoch_ = 0;  // of our lead; 0: none yet
  std::atomic<std::uint64_t> session_ = 0;
  const std::unique_ptr<PostgresDatabase> writer_;
  Statement fence_{*writer_,
                   "SELECT 1 / coalesce((SELECT 1 FROM muster_leader WHERE id = 1 AND epoch = ? "
                   "AND session = ? FOR SHARE), 0)"};
  Statement announce_{*writer_, "SELECT pg_notify('muster', '')"};
  const std::unique_ptr<Leadership> leadership_;
};

}  // namespace muster::daemon

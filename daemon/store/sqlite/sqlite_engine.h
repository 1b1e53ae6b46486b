#pragma once

// SQLite behind a store: one file, and one process that writes it.
//
// The caller holds DIR/lock, which is all the fence that one machine needs: nobody else can write,
// and a commit that failed has changed nothing. Thread promise: as StoreEngine's.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/store/database/engine.h"
#include "daemon/store/sqlite/sqlite.h"

namespace muster::daemon {

class SqliteEngine final : public StoreEngine {
 public:
  // Opens DIR/state.db, or makes it; checks it, and takes it to this program's schema.
  static absl::StatusOr<std::unique_ptr<SqliteEngine>> Open(const std::string& directory);

  Database& writer() override { return *writer_; }
  absl::StatusOr<std::unique_ptr<Database>> OpenReader() override;
  absl::Status Fence() override { return absl::OkStatus(); }
  absl::Status Announce() override { return absl::OkStatus(); }
  absl::Status Settle() override { return absl::OkStatus(); }
  absl::Status CountOn() override { return absl::OkStatus(); }
  absl::Status CheckpointAbove(std::uint64_t bytes) override;
  [[nodiscard]] std::uint64_t transactions() const override { return transactions_; }
  Leadership* leadership() override { return nullptr; }

 private:
  explicit SqliteEngine(std::unique_ptr<SqliteDatabase> writer);

  const std::unique_ptr<SqliteDatabase> writer_;
  std::uint64_t log_bytes_ = 0;      // of the write-ahead log, after the last commit
  std::uint64_t checked_bytes_ = 0;  // of it, what the last checkpoint saw
  std::atomic<std::uint64_t> transactions_ = 0;
};

}  // namespace muster::daemon

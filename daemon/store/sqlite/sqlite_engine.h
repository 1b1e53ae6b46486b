#pragma once

// SQLite behind a store: one file, and one process that writes it.
//
// The caller holds DIR/lock, which is all the fence that one machine needs: nobody else can write,
// and a commit that failed has changed nothing. Thread promise: as StoreEngine's. Invariants: every
// page is read once at a start, of a large file while it is in use; once damage is found there,
// nothing more is written.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/store/database/engine.h"
#include "daemon/store/sqlite/sqlite.h"

namespace muster::daemon {

class SqliteEngine final : public StoreEngine {
 public:
  // Opens DIR/state.db, or makes it; checks it, and takes it to this program's schema.
  // A file of up to `checked_first` bytes is checked before, a larger one beside its use.
  static absl::StatusOr<std::unique_ptr<SqliteEngine>> Open(
      const std::string& directory, std::uint64_t checked_first = kCheckedFirst);
  ~SqliteEngine() override;

  Database& writer() override { return *writer_; }
  absl::StatusOr<std::unique_ptr<Database>> OpenReader() override;
  // kDataLoss: damage was found.
  absl::Status Fence() override { return damaged_ ? damage_ : absl::OkStatus(); }
  absl::Status Announce() override { return absl::OkStatus(); }
  absl::Status Settle() override { return absl::OkStatus(); }
  absl::Status CountOn() override { return absl::OkStatus(); }
  absl::Status CheckpointAbove(std::uint64_t bytes) override;
  [[nodiscard]] std::uint64_t transactions() const override { return transactions_; }
  Leadership* leadership() override { return nullptr; }

 private:
  static constexpr std::uint64_t kCheckedFirst = std::uint64_t{256} << 20U;
  explicit SqliteEngine(std::unique_ptr<SqliteDatabase> writer);
  absl::Status CheckBeside();

  const std::unique_ptr<SqliteDatabase> writer_;
  std::uint64_t log_bytes_ = 0;      // of the write-ahead log, after the last commit
  std::uint64_t checked_bytes_ = 0;  // of it, what the last checkpoint saw
  std::atomic<std::uint64_t> transactions_ = 0;
  std::unique_ptr<SqliteDatabase> checked_;  // a connection that reads every page
  absl::Status damage_;                      // that it found; not changed once damaged_
  std::atomic<bool> damaged_ = false;
  std::thread checker_;
};

}  // namespace muster::daemon

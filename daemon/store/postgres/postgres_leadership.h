#pragma once

// The leader's row in PostgreSQL.
//
// A leader that was stopped in the middle of a transaction holds the row's lock, and nothing ends
// that by itself: who may take the lead ends the writers' sessions then. Thread promise: as
// Leadership's. Invariant: the epoch that the writer names is that of the lead that was taken here.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "daemon/store/database/leadership.h"
#include "daemon/store/postgres/postgres.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

// What the server lists the connections that write as.
inline constexpr const char* kWriterPurpose = "musterd writer";

class PostgresLeadership final : public Leadership {
 public:
  // `epoch` and `session` are those that the writer's transactions name.
  PostgresLeadership(std::unique_ptr<PostgresDatabase> database, std::atomic<std::uint64_t>* epoch,
                     std::atomic<std::uint64_t>* session);

  absl::StatusOr<LeaderRow> Read() override;
  absl::StatusOr<bool> TryTake(const std::string& holder, const std::string& addresses,
                               std::chrono::milliseconds lease, bool force) override;
  absl::StatusOr<bool> Renew(std::chrono::milliseconds lease) override;
  absl::Status Release(const std::string& successor) override;
  absl::Status AwaitNews(std::chrono::milliseconds most) override;
  absl::StatusOr<std::string> AgreeOnKey(const std::string& proposal) override;
  absl::StatusOr<std::string> ReadTokens() override;
  absl::Status WriteTokens(const std::string& site) override;

 private:
  absl::StatusOr<bool> Take(const std::string& holder, const std::string& addresses,
                            std::chrono::milliseconds lease, bool force)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  const std::unique_ptr<PostgresDatabase> database_ ABSL_PT_GUARDED_BY(mutex_);
  std::atomic<std::uint64_t>* const epoch_;
  std::atomic<std::uint64_t>* const session_;
  std::uint64_t listens_ ABSL_GUARDED_BY(mutex_) = 0;  // the connection that does
};

}  // namespace muster::daemon

#pragma once

// A connection to PostgreSQL as a Database.
//
// A writing transaction is a pipeline: its statements go out without a wait for their answers, and
// Commit reads these, so a group of changes costs one round trip. A connection that broke is made
// again with the next transaction, or the next statement outside of one; never within. Thread
// promise: as Database's. Invariants: (1) no wait lasts longer than the silence that was allowed;
// (2) a Commit that returned an error may have been durable if its code is kUnavailable; (3) after
// a transaction that failed, the connection is usable or gone.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/store/database/database.h"
#include "daemon/store/postgres/postgres_place.h"

struct pg_conn;
struct pg_result;

namespace muster::daemon {

struct PostgresResultDeleter {
  void operator()(pg_result* result) const;
};
using PostgresResult = std::unique_ptr<pg_result, PostgresResultDeleter>;

class PostgresQuery;

class PostgresDatabase final : public Database {
 public:
  // Connects, and checks that what is there can hold a store: its encoding, and that it takes
  // writes. `purpose` is shown in the server's list of activities.
  static absl::StatusOr<std::unique_ptr<PostgresDatabase>> Open(const PostgresPlace& place,
                                                                const std::string& purpose);
  ~PostgresDatabase() override;

  absl::Status Execute(const std::string& sql) override;
  std::unique_ptr<Query> Prepare(const std::string& sql) override;
  absl::Status Begin(Kind kind) override;
  absl::Status Commit() override;
  void Rollback() override;
  [[nodiscard]] const char* numbers() const override {
    return "SELECT value::bigint FROM json_array_elements_text(?::json)";
  }

  // How long the server may be silent while we wait for it.
  void AllowSilence(std::chrono::milliseconds silence) { silence_ = silence; }
  // Ends the connection; the next use makes another.
  void Disconnect();
  // Waits for a notification of a channel that was listened to: whether one came.
  absl::StatusOr<bool> AwaitNotification(std::chrono::milliseconds most);
  // Counts the connections that were made.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  // Counts the writing transactions that were committed.
  [[nodiscard]] std::uint64_t transactions() const { return transactions_; }

 private:
  friend class PostgresQuery;
  PostgresDatabase(PostgresPlace place, std::string purpose);
  absl::Status Connect();
  absl::Status CheckServer();
  // Makes sure of a connection, outside of a transaction.
  absl::Status Ready();
  // The connection is of no more use.
  absl::Status Lost(const std::string& why);
  absl::Status AwaitInput();
  // The next result; null: the end of those of one statement.
  absl::StatusOr<PostgresResult> NextResult();
  // Reads the results of all that was sent but the newest `keep`; the first error.
  absl::Status Drain(std::size_t keep);
  // The result of the one statement that was sent, or of the newest of the pipeline.
  absl::StatusOr<PostgresResult> TakeOnly();
  absl::Status Sent(int taken);
  absl::Status ErrorOf(const pg_result* result) const;

  const PostgresPlace place_;
  const std::string purpose_;
  std::chrono::milliseconds silence_;
  pg_conn* connection_ = nullptr;
  std::uint64_t generation_ = 0;
  std::uint64_t names_ = 0;       // of prepared statements
  std::vector<std::string> over_;  // names of prepared statements that nobody needs
  std::size_t pending_ = 0;       // sent in the pipeline, and not answered
  std::atomic<std::uint64_t> transactions_ = 0;
  bool transaction_ = false;
  bool pipeline_ = false;
};

}  // namespace muster::daemon

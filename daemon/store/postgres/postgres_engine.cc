#include "daemon/store/postgres/postgres_engine.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/store/postgres/postgres_leadership.h"
#include "daemon/store/postgres/postgres_schema.h"
#include "scheduler/base/status.h"

namespace muster::daemon {

absl::StatusOr<std::unique_ptr<PostgresEngine>> PostgresEngine::Open(const PostgresPlace& place,
                                                                     const std::string& cluster) {
  ASSIGN_OR_RETURN(std::unique_ptr<PostgresDatabase> writer,
                   PostgresDatabase::Open(place, kWriterPurpose));
  RETURN_IF_ERROR(PreparePostgres(*writer, cluster));
  ASSIGN_OR_RETURN(std::unique_ptr<PostgresDatabase> row,
                   PostgresDatabase::Open(place, "musterd leader"));
  return std::unique_ptr<PostgresEngine>(
      new PostgresEngine(place, std::move(writer), std::move(row)));
}

PostgresEngine::PostgresEngine(PostgresPlace place, std::unique_ptr<PostgresDatabase> writer,
                               std::unique_ptr<PostgresDatabase> row)
    : place_(std::move(place)),
      writer_(std::move(writer)),
      leadership_(std::make_unique<PostgresLeadership>(std::move(row), &epoch_, &session_)) {}

PostgresEngine::~PostgresEngine() = default;

Leadership* PostgresEngine::leadership() {
  return leadership_.get();
}

absl::StatusOr<std::unique_ptr<Database>> PostgresEngine::OpenReader() {
  return PostgresDatabase::Open(place_, "musterd reader");
}

absl::Status PostgresEngine::Fence() {
  if (epoch_ == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(writer_->path(), ": this controller does not lead"));
  }
  return fence_.Run(epoch_.load(), session_.load());
}

absl::Status PostgresEngine::Announce() {
  return announce_.Run();
}

absl::Status PostgresEngine::CountOn() {
  return writer_
      ->ReadInteger(
          "SELECT setval(pg_get_serial_sequence('passes', 'id'), "
          "(SELECT coalesce(max(id), 0) + 1 FROM passes), false)")
      .status();
}

// The row's lock waits for a transaction that is still under way on the old connection; what that
// connection sends later names an old session.
absl::Status PostgresEngine::Settle() {
  writer_->Disconnect();
  Statement next(*writer_,
                 "UPDATE muster_leader SET session = session + 1 WHERE id = 1 AND epoch = ? "
                 "RETURNING session");
  next.Start(epoch_.load());
  ASSIGN_OR_RETURN(const bool ours, next.Next());
  if (ours) {
    session_ = next.Unsigned(0);
  }
  return absl::OkStatus();
}

}  // namespace muster::daemon

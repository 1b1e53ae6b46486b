#include "daemon/store/database/database.h"

#include "scheduler/base/status.h"

namespace muster::daemon {

absl::StatusOr<std::int64_t> Database::ReadInteger(const std::string& sql) {
  Statement statement(*this, sql);
  ASSIGN_OR_RETURN(const bool row, statement.Next());
  return row ? statement.Integer(0) : 0;
}

void Statement::CheckAllBound(int bound) const {
  MUSTER_CHECK(query_->parameters().value_or(bound) == bound);
}

absl::Status Transaction::Begin(Kind kind) {
  RETURN_IF_ERROR(database_.Begin(kind));
  open_ = true;
  return absl::OkStatus();
}

absl::Status Transaction::Commit() {
  RETURN_IF_ERROR(database_.Commit());
  open_ = false;
  return absl::OkStatus();
}

Transaction::~Transaction() {
  if (open_) {
    database_.Rollback();
  }
}

}  // namespace muster::daemon

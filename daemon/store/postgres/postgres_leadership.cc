#include "daemon/store/postgres/postgres_leadership.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

// A lead that was handed over is its successor's for so long; then anybody's.
constexpr std::int64_t kSuccessorMs = 3000;
constexpr std::chrono::milliseconds kAnswerWithin{4000};
// Whether the lead may be taken. Parameters: 1 to take it in any case, the name of whoever asks,
// kSuccessorMs.
constexpr const char* kLeadIsDue =
    "id = 1 AND (? = 1 OR (lease_end <= clock_timestamp() AND (successor IN ('', ?) OR "
    "lease_end + ? * interval '1 millisecond' <= clock_timestamp())))";

}  // namespace

PostgresLeadership::PostgresLeadership(std::unique_ptr<PostgresDatabase> database,
                                       std::atomic<std::uint64_t>* epoch,
                                       std::atomic<std::uint64_t>* session)
    : database_(std::move(database)), epoch_(epoch), session_(session) {
  database_->AllowSilence(kAnswerWithin);
}

absl::StatusOr<LeaderRow> PostgresLeadership::Read() {
  const MutexLock hold(&mutex_);
  Statement row(*database_,
                "SELECT epoch, holder, addresses, successor, "
                "(extract(epoch FROM lease_end - clock_timestamp()) * 1000)::bigint "
                "FROM muster_leader WHERE id = 1");
  ASSIGN_OR_RETURN(const bool there, row.Next());
  if (!there) {
    return absl::FailedPreconditionError(
        absl::StrCat(database_->path(), ": the leader's row is gone; restore it from a backup"));
  }
  LeaderRow found;
  found.epoch = row.Unsigned(0);
  found.holder = std::string(row.Text(1));
  found.addresses = std::string(row.Text(2));
  found.successor = std::string(row.Text(3));
  found.lease = std::chrono::milliseconds(row.Integer(4));
  return found;
}

absl::StatusOr<bool> PostgresLeadership::TryTake(const std::string& holder,
                                                 const std::string& addresses,
                                                 std::chrono::milliseconds lease, bool force) {
  const MutexLock hold(&mutex_);
  return Take(holder, addresses, lease, force);
}

absl::StatusOr<bool> PostgresLeadership::Take(const std::string& holder,
                                              const std::string& addresses,
                                              std::chrono::milliseconds lease, bool force) {
  const std::int64_t forced = force ? 1 : 0;
  Statement due(*database_, absl::StrCat("SELECT 1 FROM muster_leader WHERE ", kLeadIsDue));
  due.Start(forced, holder, kSuccessorMs);
  ASSIGN_OR_RETURN(const bool is_due, due.Next());
  if (!is_due) {
    return false;
  }
  // Whoever wrote until now has no lease; a transaction of theirs that hangs would keep the row. Of
  // one who has taken the lead meanwhile it is not: that began after this statement.
  Statement end_writers(
      *database_,
      absl::StrCat("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE "
                   "application_name = ? AND usename = current_user AND datname = "
                   "current_database() AND state <> 'idle' AND xact_start <= now() AND pid IN "
                   "(SELECT pid FROM pg_locks WHERE relation = 'muster_leader'::regclass) AND "
                   "EXISTS (SELECT 1 FROM muster_leader WHERE ",
                   kLeadIsDue, ")"));
  RETURN_IF_ERROR(end_writers.Run(kWriterPurpose, forced, holder, kSuccessorMs));
  Statement take(
      *database_,
      absl::StrCat("UPDATE muster_leader SET epoch = epoch + 1, session = 0, holder = ?, "
                   "addresses = ?, successor = '', "
                   "lease_end = clock_timestamp() + ? * interval '1 millisecond' WHERE ",
                   kLeadIsDue, " RETURNING epoch"));
  take.Start(holder, addresses, std::int64_t{lease.count()}, forced, holder, kSuccessorMs);
  ASSIGN_OR_RETURN(const bool taken, take.Next());
  if (taken) {
    *session_ = 0;
    *epoch_ = take.Unsigned(0);
  }
  return taken;
}

absl::StatusOr<bool> PostgresLeadership::Renew(std::chrono::milliseconds lease) {
  const MutexLock hold(&mutex_);
  Statement renew(*database_,
                  "UPDATE muster_leader SET lease_end = clock_timestamp() + ? * interval "
                  "'1 millisecond' WHERE id = 1 AND epoch = ? AND successor = '' RETURNING epoch");
  renew.Start(std::int64_t{lease.count()}, epoch_->load());
  return renew.Next();
}

absl::Status PostgresLeadership::Release(const std::string& successor) {
  const MutexLock hold(&mutex_);
  Statement release(*database_,
                    "UPDATE muster_leader SET lease_end = clock_timestamp(), successor = ? "
                    "WHERE id = 1 AND epoch = ?");
  RETURN_IF_ERROR(release.Run(successor, epoch_->load()));
  Statement announce(*database_, "SELECT pg_notify('muster', '')");
  return announce.Run();
}

absl::Status PostgresLeadership::AwaitNews(std::chrono::milliseconds most) {
  const MutexLock hold(&mutex_);
  if (listens_ == 0 || listens_ != database_->generation()) {
    Statement listen(*database_, "LISTEN muster");
    RETURN_IF_ERROR(listen.Run());
    listens_ = database_->generation();
    return absl::OkStatus();  // there may be some from before
  }
  return database_->AwaitNotification(most).status();
}

absl::StatusOr<std::string> PostgresLeadership::AgreeOnKey(const std::string& proposal) {
  const MutexLock hold(&mutex_);
  Statement propose(*database_,
                    "UPDATE muster_leader SET job_key = ? WHERE id = 1 AND job_key = ''");
  RETURN_IF_ERROR(propose.Run(proposal));
  Statement read(*database_, "SELECT job_key FROM muster_leader WHERE id = 1");
  ASSIGN_OR_RETURN(const bool there, read.Next());
  return there ? std::string(read.Text(0)) : std::string();
}

absl::StatusOr<std::string> PostgresLeadership::ReadTokens() {
  const MutexLock hold(&mutex_);
  Statement read(*database_, "SELECT tokens FROM muster_leader WHERE id = 1");
  ASSIGN_OR_RETURN(const bool there, read.Next());
  return there ? std::string(read.Text(0)) : std::string();
}

absl::Status PostgresLeadership::WriteTokens(const std::string& site) {
  const MutexLock hold(&mutex_);
  Statement write(*database_,
                  "UPDATE muster_leader SET tokens = ? WHERE id = 1 AND epoch = ? AND epoch > 0 "
                  "RETURNING epoch");
  write.Start(site, epoch_->load());
  ASSIGN_OR_RETURN(const bool written, write.Next());
  return written ? absl::OkStatus()
                 : absl::UnavailableError("this controller does not lead: ask the one that does");
}

}  // namespace muster::daemon

#include "daemon/store/job_store.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/store/health_rows.h"
#include "daemon/store/journal.h"
#include "daemon/store/migrations.h"
#include "daemon/store/state_reader.h"
#include "daemon/store/tuning_rows.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

absl::Status CheckWritable(const std::string& directory) {
  if (faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) == 0) {
    return absl::OkStatus();
  }
  return absl::UnavailableError(absl::StrCat(
      directory, ": not writable: ", std::generic_category().message(errno),
      "; make it writable by this user (uid ", geteuid(), ") or choose another state directory"));
}

// Reads every page once: damage is found at start and not in the middle of a job's life.
absl::Status CheckUndamaged(Database& database) {
  Statement check(database, "PRAGMA quick_check(1)");
  ASSIGN_OR_RETURN(const bool row, check.Next());
  if (!row || check.Text(0) == "ok") {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat(
      database.path(), ": damaged: ", std::string(check.Text(0)),
      "; restore the file from a backup, or move it away to begin with an empty state"));
}

// WAL with synchronous=FULL: one fsync a commit, and readers beside the writer.
absl::Status Configure(Database& database) {
  Statement wal(database, "PRAGMA journal_mode = WAL");
  ASSIGN_OR_RETURN(const bool row, wal.Next());
  if (!row || wal.Text(0) != "wal") {
    return absl::UnavailableError(
        absl::StrCat(database.path(),
                     ": its file system cannot hold a write-ahead log; put the "
                     "state directory on a local disk"));
  }
  wal.Reset();
  return database.Execute(
      "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = 0; "
      "PRAGMA journal_size_limit = 67108864; PRAGMA temp_store = MEMORY");
}

}  // namespace

absl::StatusOr<std::unique_ptr<JobStore>> JobStore::Open(const std::string& directory) {
  RETURN_IF_ERROR(EnsurePrivateDirectory(directory));
  RETURN_IF_ERROR(CheckWritable(directory));
  ASSIGN_OR_RETURN(LockFile lock, LockFile::Take(directory + "/lock"));
  const std::string path = directory + "/state.db";
  ASSIGN_OR_RETURN(std::unique_ptr<Database> writer,
                   Database::Open(path, Database::Mode::kReadWrite));
  RETURN_IF_ERROR(CheckUndamaged(*writer));
  RETURN_IF_ERROR(CheckSchema(*writer));
  RETURN_IF_ERROR(Configure(*writer));
  RETURN_IF_ERROR(Migrate(*writer));
  ASSIGN_OR_RETURN(std::unique_ptr<Database> reader,
                   Database::Open(path, Database::Mode::kReadOnly));
  ASSIGN_OR_RETURN(const Version version, ReadVersion(*writer));
  return std::unique_ptr<JobStore>(
      new JobStore(directory, std::move(lock), std::move(writer), std::move(reader), version));
}

JobStore::JobStore(std::string directory, LockFile lock, std::unique_ptr<Database> writer,
                   std::unique_ptr<Database> reader, Version version)
    : directory_(std::move(directory)),
      lock_(std::move(lock)),
      writer_(std::move(writer)),
      rows_(*writer_),
      version_(version),
      reader_(std::move(reader)) {
  const auto after_commit = [](void* self, sqlite3* handle, const char*, int pages) {
    auto* store = static_cast<JobStore*>(self);
    static_cast<void>(handle);
    constexpr std::uint64_t kPageBytes = 4096 + 24;  // a page and its header in the log
    store->log_bytes_ = static_cast<std::uint64_t>(pages) * kPageBytes;
    ++store->transactions_;
    return SQLITE_OK;
  };
  sqlite3_wal_hook(writer_->handle(), after_commit, this);
}

JobStore::~JobStore() = default;

absl::StatusOr<StateImage> JobStore::Load() {
  absl::MutexLock hold(&mutex_);
  return ReadState(*reader_);
}

absl::Status JobStore::CheckSequence(std::span<const Batch> batches) const {
  Version last = version_;
  for (const Batch& batch : batches) {
    for (const JournalEntry& entry : batch.entries) {
      if (entry.version != last.Next()) {
        return absl::InternalError(absl::StrCat(writer_->path(), ": entry ", entry.version.value(),
                                                " does not follow ", last.value(),
                                                "; nothing was written"));
      }
      last = entry.version;
    }
  }
  return absl::OkStatus();
}

absl::Status JobStore::WriteAll(std::span<const Batch> batches) {
  Transaction transaction(*writer_);
  RETURN_IF_ERROR(transaction.Begin(Transaction::Kind::kWrite));
  for (const Batch& batch : batches) {
    RETURN_IF_ERROR(rows_.Write(batch));
  }
  return transaction.Commit();
}

absl::Status JobStore::Commit(std::span<const Batch> batches) {
  RETURN_IF_ERROR(lost_);
  RETURN_IF_ERROR(CheckSequence(batches));
  Version last = version_;
  bool empty = true;
  for (const Batch& batch : batches) {
    last = batch.entries.empty() ? last : batch.entries.back().version;
    empty = empty && batch.empty();
  }
  if (empty) {
    return absl::OkStatus();
  }
  const absl::Status status = WriteAll(batches);
  if (status.ok()) {
    version_ = last;
  } else if (absl::IsDataLoss(status)) {
    lost_ = status;
  }
  return status;
}

absl::StatusOr<Program> JobStore::ReadProgram(JobId submission) {
  absl::MutexLock hold(&mutex_);
  return ReadProgramRow(*reader_, submission);
}

absl::StatusOr<StepStarted> JobStore::ReadStep(JobId job, AttemptNumber attempt, StepId step) {
  absl::MutexLock hold(&mutex_);
  return ReadStepRow(*reader_, job, attempt, step);
}

absl::StatusOr<std::vector<PolicyChanged>> JobStore::ReadPolicyHistory(std::uint32_t limit) {
  absl::MutexLock hold(&mutex_);
  std::vector<PolicyChanged> changes;
  RETURN_IF_ERROR(ReadPolicyRows(*reader_, limit,
                                 [&](const PolicyChanged& change) { changes.push_back(change); }));
  return changes;
}

absl::StatusOr<std::vector<HealthRecord>> JobStore::ReadHealth(NodeId node, std::uint32_t limit) {
  absl::MutexLock hold(&mutex_);
  return ReadHealthHistory(*reader_, node, limit);
}

absl::StatusOr<std::vector<Tuning>> JobStore::ReadTunings(const std::string& kernel) {
  absl::MutexLock hold(&mutex_);
  return ReadTuningRows(*reader_, kernel);
}

absl::StatusOr<std::optional<JobId>> JobStore::FindToken(const std::string& token) {
  absl::MutexLock hold(&mutex_);
  Statement row(*reader_, "SELECT first FROM submissions WHERE token = ? AND token <> ''");
  row.Start(token);
  ASSIGN_OR_RETURN(const bool found, row.Next());
  return found ? std::optional(JobId(row.Unsigned(0))) : std::nullopt;
}

// A reading of its own, for it may take long and others should not wait for it.
absl::Status JobStore::ReadJournal(Version from,
                                   const std::function<bool(const JournalEntry&)>& visit) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> reader,
                   Database::Open(writer_->path(), Database::Mode::kReadOnly));
  return ReadJournalRows(*reader, from, visit);
}

absl::Status JobStore::CheckpointAbove(std::uint64_t bytes) {
  RETURN_IF_ERROR(lost_);
  if (log_bytes_ < checked_bytes_) {
    checked_bytes_ = 0;  // the log began anew
  }
  if (log_bytes_ - checked_bytes_ <= bytes) {
    return absl::OkStatus();
  }
  checked_bytes_ = log_bytes_;
  const absl::Status status = writer_->Execute("PRAGMA wal_checkpoint(PASSIVE)");
  if (absl::IsDataLoss(status)) {
    lost_ = status;
  }
  return status;
}

}  // namespace muster::daemon

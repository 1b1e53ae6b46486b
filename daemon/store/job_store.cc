#include "daemon/store/job_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/store/postgres/postgres_engine.h"
#include "daemon/store/rows/health_rows.h"
#include "daemon/store/rows/journal.h"
#include "daemon/store/sqlite/sqlite_engine.h"
#include "daemon/store/state_reader.h"
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

absl::StatusOr<std::unique_ptr<StoreEngine>> OpenEngine(const StorePlace& place) {
  if (place.url.empty()) {
    return SqliteEngine::Open(place.directory);
  }
  ASSIGN_OR_RETURN(const PostgresPlace database, ReadPostgresUrl(place.url));
  return PostgresEngine::Open(database, place.cluster);
}

}  // namespace

absl::StatusOr<std::unique_ptr<JobStore>> JobStore::Open(const StorePlace& place) {
  RETURN_IF_ERROR(EnsurePrivateDirectory(place.directory));
  RETURN_IF_ERROR(CheckWritable(place.directory));
  ASSIGN_OR_RETURN(LockFile lock, LockFile::Take(place.directory + "/lock"));
  ASSIGN_OR_RETURN(std::unique_ptr<StoreEngine> engine, OpenEngine(place));
  ASSIGN_OR_RETURN(std::unique_ptr<Database> reader, engine->OpenReader());
  ASSIGN_OR_RETURN(const Version version, ReadVersion(*reader));
  return std::unique_ptr<JobStore>(new JobStore(place.directory, std::move(lock), std::move(engine),
                                                std::move(reader), version, place.scripts));
}

JobStore::JobStore(std::string directory, LockFile lock, std::unique_ptr<StoreEngine> engine,
                   std::unique_ptr<Database> reader, Version version, Scripts scripts)
    : directory_(std::move(directory)),
      lock_(std::move(lock)),
      engine_(std::move(engine)),
      rows_(engine_->writer(), scripts),
      old_secrets_(engine_->writer(), scripts),
      version_(version),
      reader_(std::move(reader)) {}

JobStore::~JobStore() = default;

absl::StatusOr<StateImage> JobStore::Load(std::optional<JournalEntry>* last) {
  const MutexLock hold(&mutex_);
  RETURN_IF_ERROR(Settle());
  Transaction transaction(*reader_);
  RETURN_IF_ERROR(transaction.Begin(Transaction::Kind::kRead));
  ASSIGN_OR_RETURN(StateImage image, ReadStateWithin(*reader_));
  if (last != nullptr) {
    last->reset();
    RETURN_IF_ERROR(
        ReadJournalRowsWithin(*reader_, image.version, [last](const JournalEntry& entry) {
          *last = entry;
          return false;
        }));
  }
  if (doubtful_) {
    version_ = image.version;
    doubtful_ = false;
  }
  return image;
}

absl::Status JobStore::ContinueFrom(Version version) {
  const MutexLock hold(&mutex_);
  RETURN_IF_ERROR(Settle());
  ASSIGN_OR_RETURN(const Version last, ReadVersion(*reader_));
  if (last != version) {
    return absl::InternalError(absl::StrCat(reader_->path(), ": has entry ", last.value(),
                                            ", this program knows of ", version.value()));
  }
  version_ = version;
  doubtful_ = false;
  return absl::OkStatus();
}

// The writer's connection is replaced, which what the queue does between commits may be using.
absl::Status JobStore::Settle() {
  if (!doubtful_) {
    return absl::OkStatus();
  }
  const MutexLock hold(&writing_);
  return engine_->Settle();
}

absl::Status JobStore::CheckSequence(std::span<const Batch> batches) const {
  Version last = version_;
  for (const Batch& batch : batches) {
    for (const JournalEntry& entry : batch.entries) {
      if (entry.version != last.Next()) {
        return absl::InternalError(absl::StrCat(engine_->writer().path(), ": entry ",
                                                entry.version.value(), " does not follow ",
                                                last.value(), "; nothing was written"));
      }
      last = entry.version;
    }
  }
  return absl::OkStatus();
}

absl::Status JobStore::WriteAll(std::span<const Batch> batches) {
  Transaction transaction(engine_->writer());
  RETURN_IF_ERROR(transaction.Begin(Transaction::Kind::kWrite));
  RETURN_IF_ERROR(engine_->Fence());
  bool news = false;
  for (const Batch& batch : batches) {
    news = news || !batch.entries.empty();
    RETURN_IF_ERROR(rows_.Write(batch));
  }
  RETURN_IF_ERROR(news ? engine_->Announce() : absl::OkStatus());
  return transaction.Commit();
}

absl::Status JobStore::Commit(std::span<const Batch> batches) {
  const MutexLock hold(&writing_);
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
  if (doubtful_) {
    return absl::UnavailableError(
        absl::StrCat(engine_->writer().path(), ": the result of the last commit is not known yet"));
  }
  absl::Status status = WriteAll(batches);
  if (status.ok()) {
    version_ = last;
    return status;
  }
  rows_.Forget();
  lost_ = absl::IsDataLoss(status) ? status : lost_;
  doubtful_ = engine_->leadership() != nullptr;
  return status;
}

absl::StatusOr<JobSubmitted> JobStore::ReadSubmission(JobId job) {
  const MutexLock hold(&mutex_);
  return ReadSubmissionRow(*reader_, job);
}

absl::StatusOr<Program> JobStore::ReadProgram(JobId submission) {
  const MutexLock hold(&mutex_);
  return ReadProgramRow(*reader_, submission);
}

absl::StatusOr<StepStarted> JobStore::ReadStep(JobId job, AttemptNumber attempt, StepId step) {
  const MutexLock hold(&mutex_);
  return ReadStepRow(*reader_, job, attempt, step);
}

absl::StatusOr<std::vector<PolicyChanged>> JobStore::ReadPolicyHistory(std::uint32_t limit) {
  const MutexLock hold(&mutex_);
  std::vector<PolicyChanged> changes;
  RETURN_IF_ERROR(ReadPolicyRows(*reader_, limit,
                                 [&](const PolicyChanged& change) { changes.push_back(change); }));
  return changes;
}

absl::StatusOr<std::vector<HealthRecord>> JobStore::ReadHealth(NodeId node, std::uint32_t limit) {
  const MutexLock hold(&mutex_);
  return ReadHealthHistory(*reader_, node, limit);
}

absl::StatusOr<NotesByJob> JobStore::ReadNotes(JobId first, JobId last, const std::string& name) {
  const MutexLock hold(&mutex_);
  return ReadNoteRows(*reader_, first, last, name);
}

absl::StatusOr<std::vector<Tuning>> JobStore::ReadTunings(const std::string& kernel) {
  const MutexLock hold(&mutex_);
  return ReadTuningRows(*reader_, kernel);
}

absl::StatusOr<std::optional<JobId>> JobStore::FindToken(const std::string& token) {
  const MutexLock hold(&mutex_);
  Statement row(*reader_, "SELECT first FROM submissions WHERE token = ? AND token <> ''");
  row.Start(token);
  ASSIGN_OR_RETURN(const bool found, row.Next());
  return found ? std::optional(JobId(row.Unsigned(0))) : std::nullopt;
}

// A reading of its own, for it may take long and others should not wait for it.
absl::Status JobStore::ReadJournal(Version from,
                                   const std::function<bool(const JournalEntry&)>& visit) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> reader, engine_->OpenReader());
  ASSIGN_OR_RETURN(const Version begins, ReadJournalBegins(*reader));
  if (from < begins) {
    return absl::OutOfRangeError(
        absl::StrCat("entries before ", begins.value(), " are in the archive; begin there"));
  }
  return ReadJournalRows(*reader, from, visit);
}

absl::StatusOr<bool> JobStore::TakeOldSecrets() {
  const MutexLock hold(&writing_);
  RETURN_IF_ERROR(lost_);
  if (!old_secrets_left_ || doubtful_) {
    return old_secrets_left_;
  }
  ASSIGN_OR_RETURN(const std::uint64_t left, old_secrets_.Left());
  old_secrets_left_ = left > 0;
  if (!old_secrets_left_) {
    return false;
  }
  Transaction transaction(engine_->writer());
  RETURN_IF_ERROR(transaction.Begin(Transaction::Kind::kWrite));
  RETURN_IF_ERROR(engine_->Fence());
  RETURN_IF_ERROR(old_secrets_.TakePiece(left));
  const absl::Status status = transaction.Commit();
  lost_ = absl::IsDataLoss(status) ? status : lost_;
  RETURN_IF_ERROR(status);
  return true;
}

absl::Status JobStore::CheckpointAbove(std::uint64_t bytes) {
  const MutexLock hold(&writing_);
  RETURN_IF_ERROR(lost_);
  absl::Status status = engine_->CheckpointAbove(bytes);
  if (absl::IsDataLoss(status)) {
    lost_ = status;
  }
  return status;
}

}  // namespace muster::daemon

#pragma once

// The store: the journal, the state and the accounting of one cluster, in DIR/state.db or in a
// PostgreSQL database.
//
// One narrow interface, and behind it an engine. Thread promise: Commit, CheckpointAbove and
// TakeOldSecrets come one after the other, of whatever thread; everything else is safe from any
// thread beside them and reads what is committed; after a Commit that failed, Load comes before the
// next Commit. Invariants: (1) a Commit that returned OK is on the disk; after one that did not,
// Load says what there is, and no part of it comes later; (2) versions have no gap, from the
// journal's beginning on; (3) no other process writes: DIR/lock sees to that in a file, the
// leader's row in a database; (4) nothing is ever deleted to make room or to start, but what
// `Batch::drops` names; (5) environments, and scripts unless they are kept, go when their jobs have
// ended.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/store/database/engine.h"
#include "daemon/store/rows/batch.h"
#include "daemon/store/rows/kept_rows.h"
#include "daemon/store/rows/old_secrets.h"
#include "daemon/store/rows/program_secret.h"
#include "daemon/store/rows/row_writer.h"
#include "scheduler/model/change/state_image.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

// Where a store is.
struct StorePlace {
  std::string directory;  // the controller's own
  std::string url;        // "postgresql://…"; empty: the file state.db in the directory
  std::string cluster;    // whose store it has to be; of a file nobody asks
  Scripts scripts = Scripts::kErased;  // what becomes of scripts whose jobs have ended
};

class JobStore {
 public:
  // Opens the database, or makes its tables; checks it, and takes it to this program's schema. An
  // error is one line: where, what is wrong, the mend. kFailedPrecondition names the process that
  // holds the directory already, or says why the database cannot be this cluster's.
  static absl::StatusOr<std::unique_ptr<JobStore>> Open(const StorePlace& place);
  static absl::StatusOr<std::unique_ptr<JobStore>> Open(const std::string& directory) {
    return Open(StorePlace{directory, "", "", Scripts::kErased});
  }
  JobStore(const JobStore&) = delete;
  JobStore& operator=(const JobStore&) = delete;
  ~JobStore();

  // The state after the last committed entry, and into `last` that entry, if the journal still has
  // it. kUnavailable: the database cannot be reached.
  absl::StatusOr<StateImage> Load(std::optional<JournalEntry>* last = nullptr);
  // From now on commits follow this version: of a leader that followed the journal until now.
  absl::Status ContinueFrom(Version version);
  // The row that says who leads; null where nobody else can open the store.
  [[nodiscard]] Leadership* leadership() { return engine_->leadership(); }
  // A further connection that reads.
  absl::StatusOr<std::unique_ptr<Database>> OpenReader() { return engine_->OpenReader(); }

  // Makes all batches durable in one transaction, or none. kResourceExhausted: the disk is full;
  // kUnavailable: the file cannot be written; both may be tried again later. kDataLoss: an I/O
  // error, after which what is on the disk is unknown until the next start; every later Commit is
  // refused, and the caller ends the process. kFailedPrecondition: another controller leads.
  // kInternal: the batch contradicts what is stored.
  absl::Status Commit(std::span<const Batch> batches);

  // The submission that a job is of. NotFound when there is none.
  absl::StatusOr<JobSubmitted> ReadSubmission(JobId job);
  // The program of a submission, by its first id. NotFound when there is none.
  absl::StatusOr<Program> ReadProgram(JobId submission);
  // The event that started a step. NotFound when there is none.
  absl::StatusOr<StepStarted> ReadStep(JobId job, AttemptNumber attempt, StepId step);
  // The changes of policy, the newest first, at most `limit`.
  absl::StatusOr<std::vector<PolicyChanged>> ReadPolicyHistory(std::uint32_t limit);
  // The node's health checks, the newest first, at most `limit`.
  absl::StatusOr<std::vector<HealthRecord>> ReadHealth(NodeId node, std::uint32_t limit);
  // What people said of the jobs from `first` to `last` under that name, or under any ("").
  absl::StatusOr<NotesByJob> ReadNotes(JobId first, JobId last, const std::string& name = "");
  // Tunings of the kernel, or of all (""), the newest first.
  absl::StatusOr<std::vector<Tuning>> ReadTunings(const std::string& kernel);
  // The submission that used a client token, however old; nullopt when none did. Submissions only.
  absl::StatusOr<std::optional<JobId>> FindToken(const std::string& token);
  // Calls visit(entry) for each entry from `from` on, in order, until it returns false. OutOfRange:
  // the journal begins later.
  absl::Status ReadJournal(Version from, const std::function<bool(const JournalEntry&)>& visit);

  // Moves the log into the file when it has grown by `bytes` since the last time. Commit never
  // does: a commit costs one fsync. kDataLoss as in Commit; other errors only delay it.
  absl::Status CheckpointAbove(std::uint64_t bytes);
  // Takes the secrets out of some of the rows that an older schema left; false: there are no more.
  absl::StatusOr<bool> TakeOldSecrets();

  // DIR, as Open was given it.
  [[nodiscard]] const std::string& directory() const { return directory_; }
  // Transactions committed since Open.
  [[nodiscard]] std::uint64_t transactions() const { return engine_->transactions(); }

 private:
  JobStore(std::string directory, LockFile lock, std::unique_ptr<StoreEngine> engine,
           std::unique_ptr<Database> reader, Version version, Scripts scripts);
  absl::Status WriteAll(std::span<const Batch> batches);
  absl::Status Settle();
  absl::Status CheckSequence(std::span<const Batch> batches) const;

  const std::string directory_;
  const LockFile lock_;
  const std::unique_ptr<StoreEngine> engine_;
  RowWriter rows_;
  OldSecrets old_secrets_;
  bool old_secrets_left_ = true;
  Version version_;                     // of the last committed entry
  absl::Status lost_;                   // the kDataLoss that ended all writing
  std::atomic<bool> doubtful_ = false;  // a commit failed, and Load has not looked since
  Mutex mutex_;
  Mutex writing_;  // the engine's writer; taken after the one above
  const std::unique_ptr<Database> reader_ ABSL_PT_GUARDED_BY(mutex_);
};

}  // namespace muster::daemon

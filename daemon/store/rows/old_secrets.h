#pragma once

// Rows from before environments and scripts had columns of their own: takes them out of the
// payloads of programs and journal entries, a piece at a time, the newest first.
//
// Thread promise: belongs to the thread of its database; the caller holds the transaction.
// Invariants: (1) what a job that has not ended needs is where newer rows have it; (2) a piece that
// was committed is not looked at again, in whatever process.

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/store/database/database.h"
#include "daemon/store/rows/program_secret.h"
#include "scheduler/model/change/event.h"

namespace muster::daemon {

class OldSecrets {
 public:
  OldSecrets(Database& database, Scripts scripts) : database_(database), scripts_(scripts) {}

  // Entries that may hold secrets, from the first one to this; 0: none.
  absl::StatusOr<std::uint64_t> Left();
  // Treats the newest of these `left`.
  absl::Status TakePiece(std::uint64_t left);

 private:
  absl::Status Take(const JournalEntry& entry, const JobSubmitted& event);
  template <class StepEvent>
  absl::Status Take(const JournalEntry& entry, StepEvent event);
  absl::Status PutEntry(const JournalEntry& entry);

  Database& database_;
  const Scripts scripts_;
  Statement find_left_{database_, "SELECT value FROM meta WHERE key = 'whole_entries'"};
  Statement put_left_{database_, "UPDATE meta SET value = ? WHERE key = 'whole_entries'"};
  Statement entries_{database_,
                     "SELECT version, payload FROM journal WHERE version > ? AND version <= ? AND "
                     "kind IN ('job_submitted', 'step_started', 'step_queued') ORDER BY version"};
  Statement put_entry_{database_, "UPDATE journal SET payload = ? WHERE version = ?"};
  Statement find_program_{database_,
                          "SELECT payload, open FROM programs JOIN submissions "
                          "ON first = submission WHERE submission = ?"};
  Statement put_program_{database_,
                         "UPDATE programs SET payload = ?, secret = ? WHERE submission = ?"};
  Statement find_end_{database_, "SELECT 1 FROM history WHERE id = ?"};
  Statement put_step_{database_,
                      "UPDATE steps SET secret = ? "
                      "WHERE job = ? AND attempt = ? AND step = ? AND version = ?"};
};

}  // namespace muster::daemon

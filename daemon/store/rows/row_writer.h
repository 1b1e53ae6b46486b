#pragma once

// Batches as rows: the writing half of the schema. The caller holds the transaction.
//
// Thread promise: belongs to the thread of its database. Invariants: (1) every entry becomes one
// journal row; (2) a live job has a jobs row exactly while it differs from what was submitted; (3)
// an ended job moves from jobs to history and its submission has one open element less; (4) the
// secrets of programs are in no other row than theirs, and go with the last job that needs them.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "daemon/store/database/database.h"
#include "daemon/store/rows/batch.h"
#include "daemon/store/rows/kept_rows.h"
#include "daemon/store/rows/program_secret.h"
#include "daemon/store/rows/step_rows.h"

namespace muster::daemon {

class RowWriter {
 public:
  RowWriter(Database& database, Scripts scripts) : database_(database), scripts_(scripts) {}

  absl::Status Write(const Batch& batch);
  // What was written since the last transaction that was committed is not there.
  void Forget() { settings_ = nullptr; }

 private:
  absl::Status WriteEntry(const JournalEntry& entry);
  absl::Status WriteEvent(const Event& event);
  absl::Status WriteSubmission(const JournalEntry& entry, const JobSubmitted& event);
  absl::Status InsertEntry(const JournalEntry& entry);
  template <class StepEvent>
  absl::Status WriteStepEntry(Version version, StepEvent event);
  absl::Status WriteJob(const Job& job, JobId first_new);
  absl::Status WriteEnded(std::span<const EndedJob> ended);
  // That many jobs of each of these submissions have ended.
  absl::Status Close(JobId first, JobId last, std::int64_t jobs);
  absl::Status WriteHistory(const EndedJob& ended);
  absl::Status WriteAttempt(const EndedAttempt& ended);
  absl::Status WriteNode(const Node& node);
  absl::Status WritePolicy(const PolicyChanged& event);
  absl::Status WriteSpent(const Spent& spent);
  absl::Status WriteUsage(const AccountUsage& usage);
  absl::Status WriteCycle(const CycleRecord& cycle);
  absl::Status WriteHealth(const NodeHealth& health);
  absl::Status WriteTally(const FailureTally& tally);
  absl::Status WriteCheck(const HealthChecked& event);

  Database& database_;
  const Scripts scripts_;
  KeptRowWriter kept_{database_};
  StepRows steps_{database_};
  std::string payload_;                              // reused, to save an allocation a row
  std::shared_ptr<const SchedulerConfig> settings_;  // of the last cycle
  std::uint64_t settings_print_ = 0;
  Statement insert_entry_{database_, "INSERT INTO journal VALUES (?, ?, ?, ?, ?)"};
  Statement insert_submission_{database_, "INSERT INTO submissions VALUES (?, ?, ?, ?, ?, ?, ?)"};
  Statement insert_program_{database_, "INSERT INTO programs VALUES (?, ?, ?)"};
  Statement close_element_{database_,
                           "UPDATE submissions SET open = open - ? WHERE first BETWEEN ? AND ?"};
  Statement put_job_{database_,
                     "INSERT INTO jobs VALUES (?, ?, ?) "
                     "ON CONFLICT (id) DO UPDATE SET payload = excluded.payload"};
  Statement delete_jobs_{database_, "DELETE FROM jobs WHERE id BETWEEN ? AND ?"};
  Statement insert_history_{database_,
                            "INSERT INTO history VALUES "
                            "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
  Statement insert_attempt_{database_,
                            "INSERT INTO attempts VALUES "
                            "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
  // Of submissions whose last job has ended.
  Statement erase_programs_{database_,
                            "UPDATE programs SET secret = ? WHERE submission BETWEEN ? AND ? AND "
                            "(SELECT open FROM submissions WHERE first = programs.submission) = 0"};
  Statement put_node_{database_,
                      "INSERT INTO nodes VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
                      "name = excluded.name, payload = excluded.payload"};
  Statement put_policy_{database_,
                        "INSERT INTO policy VALUES (?, ?, ?) "
                        "ON CONFLICT (kind, name) DO UPDATE SET payload = excluded.payload"};
  Statement find_settings_{database_, "SELECT 1 FROM settings WHERE hash = ?"};
  Statement insert_settings_{database_, "INSERT INTO settings VALUES (?, ?)"};
  Statement insert_cycle_{database_,
                          "INSERT INTO passes (version, time, hash, follows, settings) "
                          "VALUES (?, ?, ?, ?, ?)"};
  Statement put_health_{database_,
                        "INSERT INTO node_health VALUES (?, ?) "
                        "ON CONFLICT (node) DO UPDATE SET payload = excluded.payload"};
  Statement put_tally_{database_,
                       "INSERT INTO node_failures VALUES (?, ?, ?, ?, ?, ?) "
                       "ON CONFLICT (node) DO UPDATE SET failures = excluded.failures, "
                       "exposure = excluded.exposure, faded = excluded.faded, "
                       "failed = excluded.failed, losses = excluded.losses"};
  Statement put_check_{database_,
                       "INSERT INTO health VALUES (?, ?, ?) "
                       "ON CONFLICT (node, number) DO UPDATE SET payload = excluded.payload"};
  Statement forget_checks_{database_, "DELETE FROM health WHERE node = ? AND number <= ?"};
  Statement delete_policy_{database_, "DELETE FROM policy WHERE kind = ? AND name = ?"};
};

}  // namespace muster::daemon

#pragma once

// Batches as rows: the writing half of the schema. The caller holds the transaction.
//
// Thread promise: belongs to the thread of its database. Invariants: (1) every entry becomes one
// journal row; (2) a live job has a jobs row exactly while it differs from what was submitted; (3)
// an ended job moves from jobs to history and its submission has one open element less.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "daemon/store/batch.h"
#include "daemon/store/database/database.h"
#include "daemon/store/kept_rows.h"

namespace muster::daemon {

class RowWriter {
 public:
  explicit RowWriter(Database& database) : database_(database) {}

  absl::Status Write(const Batch& batch);
  // What was written since the last transaction that was committed is not there.
  void Forget() { settings_ = nullptr; }

 private:
  absl::Status WriteEntry(const JournalEntry& entry);
  absl::Status WriteEvent(Version version, const Event& event);
  absl::Status WriteSubmission(const JournalEntry& entry, const JobSubmitted& event);
  absl::Status WriteStep(Version version, const StepStarted& event);
  absl::Status WriteStep(Version version, const StepQueued& event);
  absl::StatusOr<std::string> NodeName(NodeId node);
  absl::Status WriteStepEnd(const RunReported& reported, const StepEnded& ended);
  absl::Status WriteJob(const Job& job, JobId first_new);
  absl::Status WriteEnded(const EndedJob& ended);
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
  KeptRowWriter kept_{database_};
  std::string payload_;                              // reused, to save an allocation a row
  std::shared_ptr<const SchedulerConfig> settings_;  // of the last cycle
  std::uint64_t settings_print_ = 0;
  Statement insert_entry_{database_, "INSERT INTO journal VALUES (?, ?, ?, ?, ?)"};
  Statement insert_submission_{database_, "INSERT INTO submissions VALUES (?, ?, ?, ?, ?, ?, ?)"};
  Statement insert_program_{database_, "INSERT INTO programs VALUES (?, ?)"};
  Statement close_element_{database_, "UPDATE submissions SET open = open - ? WHERE first = ?"};
  Statement put_job_{database_,
                     "INSERT INTO jobs VALUES (?, ?, ?) "
                     "ON CONFLICT (id) DO UPDATE SET payload = excluded.payload"};
  Statement delete_job_{database_, "DELETE FROM jobs WHERE id = ?"};
  Statement insert_history_{database_,
                            "INSERT INTO history VALUES "
                            "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
  Statement insert_attempt_{database_,
                            "INSERT INTO attempts VALUES "
                            "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
  Statement insert_step_{database_,
                         "INSERT INTO steps (job, attempt, step, version, token, name, started, "
                         "nodes, tasks, cpus, gpus, open) "
                         "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                         "ON CONFLICT (job, attempt, step) DO UPDATE SET "
                         "started = excluded.started, nodes = excluded.nodes, "
                         "tasks = excluded.tasks, cpus = excluded.cpus, gpus = excluded.gpus, "
                         "open = excluded.open"};
  Statement queue_step_{database_,
                        "INSERT INTO steps (job, attempt, step, version, token, name, queued) "
                        "VALUES (?, ?, ?, ?, ?, ?, ?)"};
  Statement drop_step_{database_,
                       "UPDATE steps SET ended = ?, text = ? "
                       "WHERE job = ? AND attempt = ? AND step = ?"};
  Statement find_node_{database_, "SELECT name FROM nodes WHERE id = ?"};
  // Each node reports the end of its ranks: the last time, the earliest failure, the sum of the
  // usage.
  Statement end_step_{
      database_,
      "INSERT INTO steps (job, attempt, step, ended, exit_code, exit_signal, user_cpu_ms, "
      "system_cpu_ms, peak_memory, text, failed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
      "ON CONFLICT (job, attempt, step) DO UPDATE SET "
      "ended = CASE WHEN coalesce(excluded.ended, 0) > coalesce(steps.ended, 0) "
      "THEN excluded.ended ELSE coalesce(steps.ended, 0) END, "
      "open = CASE WHEN steps.open > 1 THEN steps.open - 1 ELSE 0 END, "
      "text = CASE WHEN excluded.failed > 0 AND "
      "(steps.failed = 0 OR excluded.failed < steps.failed) "
      "THEN excluded.text ELSE steps.text END, "
      "exit_code = CASE WHEN excluded.failed > 0 AND "
      "(steps.failed = 0 OR excluded.failed < steps.failed) "
      "THEN excluded.exit_code ELSE steps.exit_code END, "
      "exit_signal = CASE WHEN excluded.failed > 0 AND "
      "(steps.failed = 0 OR excluded.failed < steps.failed) "
      "THEN excluded.exit_signal ELSE steps.exit_signal END, "
      "failed = CASE WHEN excluded.failed > 0 AND "
      "(steps.failed = 0 OR excluded.failed < steps.failed) "
      "THEN excluded.failed ELSE steps.failed END, "
      "user_cpu_ms = steps.user_cpu_ms + excluded.user_cpu_ms, "
      "system_cpu_ms = steps.system_cpu_ms + excluded.system_cpu_ms, "
      "peak_memory = CASE WHEN excluded.peak_memory > steps.peak_memory "
      "THEN excluded.peak_memory ELSE steps.peak_memory END"};
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
  Statement put_meta_{database_,
                      "INSERT INTO meta VALUES (?, ?) "
                      "ON CONFLICT (key) DO UPDATE SET value = excluded.value"};
  Statement raise_meta_{
      database_,
      "INSERT INTO meta VALUES (?, ?) "
      "ON CONFLICT (key) DO UPDATE SET value = CASE WHEN excluded.value > meta.value "
      "THEN excluded.value ELSE meta.value END"};
};

}  // namespace muster::daemon

#pragma once

// The rows of steps: what one ran, where, and how it ended, summed over its nodes' reports.
//
// Thread promise: belongs to the thread of its database; the caller holds the transaction.
// Invariants: (1) a step has one row, whatever comes first, its start or a node's report of its
// end; (2) its failure is that of the rank that failed first.

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/store/database/database.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/value/ids.h"

namespace muster::daemon {

class StepRows {
 public:
  explicit StepRows(Database& database) : database_(database) {}

  // `secret`: of its program, as bytes.
  absl::Status Write(Version version, const StepStarted& event, const std::string& secret);
  absl::Status Write(Version version, const StepQueued& event, const std::string& secret);
  absl::Status Write(const StepDropped& event);
  absl::Status Write(const RunReported& reported, const StepEnded& ended);
  // Erases the secrets of the steps of the jobs from `first` to `last`.
  absl::Status Erase(JobId first, JobId last);

 private:
  absl::StatusOr<std::string> NodeName(NodeId node);

  Database& database_;
  Statement insert_step_{database_,
                         "INSERT INTO steps (job, attempt, step, version, token, name, started, "
                         "nodes, tasks, cpus, gpus, open, secret) "
                         "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                         "ON CONFLICT (job, attempt, step) DO UPDATE SET "
                         "started = excluded.started, nodes = excluded.nodes, "
                         "tasks = excluded.tasks, cpus = excluded.cpus, gpus = excluded.gpus, "
                         "open = excluded.open"};
  Statement queue_step_{database_,
                        "INSERT INTO steps (job, attempt, step, version, token, name, queued, "
                        "secret) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"};
  Statement erase_steps_{database_,
                         "UPDATE steps SET secret = ? WHERE job BETWEEN ? AND ? "
                         "AND length(secret) > 0"};
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
};

}  // namespace muster::daemon

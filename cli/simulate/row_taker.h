#pragma once

// Takes a simulation's rows to where the user wants them: tables, metrics, comparison, pictures.
//
// Stops at SIGINT or SIGTERM; what is written then says that it is partial. Thread promise: one
// thread. Invariants: a file that was asked for is whole under its name, or not there.

#include <csignal>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "cli/frame/environment.h"
#include "cli/frame/progress_bar.h"
#include "cli/frame/result_file.h"
#include "cli/simulate/simulate_options.h"
#include "scheduler/runtime/unique_fd.h"
#include "scheduler/simulator/flat/flat_simulation.h"
#include "scheduler/simulator/report/drawn_jobs.h"
#include "scheduler/simulator/schedule/schedule_check.h"
#include "scheduler/simulator/schedule/schedule_metrics.h"

namespace muster::cli {

class RowTaker final : public sim::FlatObserver {
 public:
  // Opens the files. `check` may be null; `signals` tells of SIGINT and SIGTERM.
  static absl::StatusOr<std::unique_ptr<RowTaker>> Create(const SimulateOptions& options,
                                                          const Environment& environment,
                                                          sim::ScheduleCheck* check,
                                                          const UniqueFd& signals,
                                                          const Clock& clock);

  absl::Status Begin(std::int64_t processors) override;
  absl::Status Ended(const sim::ScheduleRow& row) override;
  bool KeepGoing(const sim::FlatProgress& progress) override;

  // Writes what is left of the tables, with a last line if it is not all.
  absl::Status Finish(const sim::FlatResult& result);
  void Wipe() { bar_.Wipe(); }

  sim::ScheduleMetrics& metrics() { return metrics_; }
  [[nodiscard]] const sim::DrawnJobs& drawn() const { return drawn_; }
  // REQUIRES: options.audit or options.jobs_csv.
  [[nodiscard]] const std::string& table_path() const { return table_->path(); }

 private:
  RowTaker(const SimulateOptions& options, sim::ScheduleCheck* check, const UniqueFd& signals,
           const Clock& clock);

  bool draws_;
  sim::ScheduleCheck* check_;
  const UniqueFd& signals_;
  ProgressBar bar_;
  sim::ScheduleMetrics metrics_;
  sim::DrawnJobs drawn_;
  std::unique_ptr<ResultFile> table_;
  std::unique_ptr<ResultFile> swf_;
  std::string table_rows_;  // that are not in the file yet
  std::string swf_rows_;
};

}  // namespace muster::cli

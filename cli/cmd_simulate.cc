#include "cli/cmd_simulate.h"

#include <unistd.h>

#include <csignal>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "cli/result_file.h"
#include "cli/simulate_options.h"
#include "cli/simulate_report.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/signals.h"
#include "scheduler/simulator/schedule_csv.h"

namespace muster {
namespace {

constexpr std::size_t kPendingBytes = std::size_t{1} << 16;
constexpr int kInterrupted = 128 + SIGINT;

// Takes the rows: to the table, the metrics and the comparison. Stops at SIGINT or SIGTERM.
class RowTaker final : public FlatObserver {
 public:
  RowTaker(ResultFile* table, ScheduleCheck* check, const UniqueFd& signals, const Clock& clock)
      : table_(table),
        check_(check),
        signals_(signals),
        bar_("simulate", "jobs", clock, STDERR_FILENO) {}

  absl::Status Begin(std::int64_t processors) override {
    (void)processors;
    metrics_ = ScheduleMetrics();
    if (table_ != nullptr) {
      RETURN_IF_ERROR(table_->Restart());
      pending_ = ScheduleHeader();
    }
    return absl::OkStatus();
  }

  absl::Status Ended(const ScheduleRow& row) override {
    metrics_.Add(row);
    if (check_ != nullptr) {
      check_->Compare(row);
    }
    if (table_ == nullptr) {
      return absl::OkStatus();
    }
    AppendRow(row, &pending_);
    return pending_.size() < kPendingBytes ? absl::OkStatus() : Flush();
  }

  bool KeepGoing(const FlatProgress& progress) override {
    const double read =
        progress.bytes_in_all == 0 || progress.arrived == 0
            ? -1
            : static_cast<double>(progress.bytes) / static_cast<double>(progress.bytes_in_all);
    bar_.Show(read * static_cast<double>(progress.ended) /
                  static_cast<double>(std::max<std::uint64_t>(progress.arrived, 1)),
              progress.ended);
    const absl::StatusOr<std::optional<SignalEvent>> signal = NextSignal(signals_);
    return !signal.ok() || !signal->has_value();
  }

  // Writes what is left of the table, with a last line if it is not all.
  absl::Status Finish(const FlatResult& result) {
    bar_.Wipe();
    if (table_ == nullptr) {
      return absl::OkStatus();
    }
    if (!result.complete) {
      absl::StrAppend(&pending_, "# partial: stopped at ", result.now, ", ", result.ended, " of ",
                      result.jobs, " jobs ended\n");
    }
    RETURN_IF_ERROR(Flush());
    return table_->Finish();
  }

  void Wipe() { bar_.Wipe(); }
  ScheduleMetrics& metrics() { return metrics_; }

 private:
  absl::Status Flush() {
    absl::Status status = table_->Append(pending_);
    pending_.clear();
    return status;
  }

  ResultFile* table_;
  ScheduleCheck* check_;
  const UniqueFd& signals_;
  ProgressBar bar_;
  ScheduleMetrics metrics_;
  std::string pending_;  // rows that are not in the file yet
};

// The table of jobs: where the user wants it, or for the audit alone.
absl::StatusOr<std::unique_ptr<ResultFile>> MakeTable(const SimulateOptions& options,
                                                      const Environment& environment) {
  if (!options.jobs_csv.empty()) {
    return ResultFile::Create(options.jobs_csv);
  }
  if (options.audit) {
    const std::string directory = environment.Get("TMPDIR");
    return ResultFile::CreateTemporary(directory.empty() ? "/tmp" : directory);
  }
  return std::unique_ptr<ResultFile>();
}

absl::Status WriteSummary(const SimulateOptions& options, const SimulateOutcome& outcome) {
  if (options.summary_json.empty()) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<ResultFile> file,
                   ResultFile::Create(options.summary_json));
  RETURN_IF_ERROR(file->Append(SimulationDocument(options, outcome)));
  return file->Finish();
}

int CodeOf(const SimulateOutcome& outcome) {
  if (!outcome.result.complete) {
    return kInterrupted;
  }
  const bool is_illegal = outcome.audit.has_value() && outcome.audit->violations != 0;
  const bool differs = outcome.check.has_value() && !outcome.check->same();
  return is_illegal || differs ? 1 : 0;
}

absl::StatusOr<int> Simulate(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const SimulateOptions options, ReadSimulateOptions(invocation));
  ASSIGN_OR_RETURN(const UniqueFd signals, BlockSignals({SIGINT, SIGTERM}));
  std::optional<ScheduleCheck> check;
  if (!options.check.empty()) {
    ASSIGN_OR_RETURN(check, ScheduleCheck::Open(options.check));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<ResultFile> table,
                   MakeTable(options, invocation.environment));
  const SystemClock clock;
  RowTaker taker(table.get(), check.has_value() ? &*check : nullptr, signals, clock);
  absl::StatusOr<FlatResult> result = SimulateFlat(options.run, taker);
  taker.Wipe();
  RETURN_IF_ERROR(result.status());
  RETURN_IF_ERROR(taker.Finish(*result));
  SimulateOutcome outcome{.result = *result,
                          .metrics = taker.metrics().Compute(result->processors),
                          .audit = {},
                          .check = {}};
  if (options.audit) {
    ASSIGN_OR_RETURN(outcome.audit, AuditSchedule(table->path(), result->processors));
  }
  if (check.has_value()) {
    outcome.check = check->Finish();
  }
  RETURN_IF_ERROR(WriteSummary(options, outcome));
  RETURN_IF_ERROR(WriteOut(
      options.json
          ? SimulationDocument(options, outcome)
          : PrintSimulation(options, outcome, StyleFor(invocation.environment, STDOUT_FILENO))));
  if (!result->complete) {
    std::cerr << "muster simulate: stopped by a signal: the results are partial and say so\n";
  }
  return CodeOf(outcome);
}

}  // namespace

Verb SimulateVerb() {
  Verb verb;
  verb.name = "simulate";
  verb.purpose = "Replay a workload trace under a scheduling policy, and measure who waits";
  verb.examples = {"muster simulate --trace KTH-SP2.swf.xz --policy easy --audit",
                   "muster simulate --trace log.swf --flat 256 --policy easy-sjbf --estimates x2",
                   "muster simulate --trace log.swf --jobs-csv jobs.csv --summary-json sum.json"};
  verb.remarks = FlatSemantics();
  verb.options = SimulateOptionTable();
  verb.run = Simulate;
  return verb;
}

}  // namespace muster

#include "cli/simulate/row_taker.h"

#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/signals.h"
#include "scheduler/simulator/schedule/schedule_csv.h"
#include "scheduler/simulator/schedule/trace_text.h"

namespace muster::cli {
namespace {

constexpr std::size_t kPendingRowBytes = std::size_t{1} << 16;

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

absl::Status Flush(ResultFile* file, std::string* rows, std::size_t least) {
  if (file == nullptr || rows->size() < least) {
    return absl::OkStatus();
  }
  absl::Status status = file->Append(*rows);
  rows->clear();
  return status;
}

}  // namespace

RowTaker::RowTaker(const SimulateOptions& options, sim::ScheduleCheck* check,
                   const UniqueFd& signals, const Clock& clock)
    : draws_(!options.html.empty() || !options.perfetto.empty()),
      check_(check),
      signals_(signals),
      bar_("simulate", "jobs", clock, STDERR_FILENO) {}

absl::StatusOr<std::unique_ptr<RowTaker>> RowTaker::Create(const SimulateOptions& options,
                                                           const Environment& environment,
                                                           sim::ScheduleCheck* check,
                                                           const UniqueFd& signals,
                                                           const Clock& clock) {
  std::unique_ptr<RowTaker> taker(new RowTaker(options, check, signals, clock));
  ASSIGN_OR_RETURN(taker->table_, MakeTable(options, environment));
  if (!options.swf.empty()) {
    ASSIGN_OR_RETURN(taker->swf_, ResultFile::Create(options.swf));
  }
  return taker;
}

absl::Status RowTaker::Begin(std::int64_t processors) {
  metrics_ = sim::ScheduleMetrics();
  drawn_.Clear();
  if (check_ != nullptr) {
    check_->Restart();
  }
  if (table_ != nullptr) {
    RETURN_IF_ERROR(table_->Restart());
    table_rows_ = sim::ScheduleHeader();
  }
  if (swf_ != nullptr) {
    RETURN_IF_ERROR(swf_->Restart());
    sim::TraceHeader header;
    header.max_procs = processors;
    swf_rows_ = sim::SwfHeaderText(header, "a schedule by muster simulate, in order of end");
  }
  return absl::OkStatus();
}

absl::Status RowTaker::Ended(const sim::ScheduleRow& row) {
  metrics_.Add(row);
  if (check_ != nullptr) {
    check_->Compare(row);
  }
  if (draws_) {
    drawn_.Add(row);
  }
  if (table_ != nullptr) {
    sim::AppendRow(row, &table_rows_);
  }
  if (swf_ != nullptr) {
    sim::AppendSwf(sim::RecordOf(row), &swf_rows_);
  }
  RETURN_IF_ERROR(Flush(table_.get(), &table_rows_, kPendingRowBytes));
  return Flush(swf_.get(), &swf_rows_, kPendingRowBytes);
}

bool RowTaker::KeepGoing(const sim::FlatProgress& progress) {
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

absl::Status RowTaker::Finish(const sim::FlatResult& result) {
  bar_.Wipe();
  if (!result.complete) {
    const std::string partial = absl::StrCat("partial: stopped at ", result.now, ", ", result.ended,
                                             " of ", result.jobs, " jobs ended\n");
    absl::StrAppend(&table_rows_, "# ", partial);
    absl::StrAppend(&swf_rows_, "; ", partial);
  }
  RETURN_IF_ERROR(Flush(table_.get(), &table_rows_, 0));
  RETURN_IF_ERROR(Flush(swf_.get(), &swf_rows_, 0));
  if (swf_ != nullptr) {
    RETURN_IF_ERROR(swf_->Finish());
  }
  return table_ == nullptr ? absl::OkStatus() : table_->Finish();
}

}  // namespace muster::cli

#include "scheduler/simulator/readers/trace_reader.h"

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::sim {
absl::Status TraceReader::Begin() {
  TraceRecord first;
  ASSIGN_OR_RETURN(const bool any, Read(&first));
  if (any) {
    first_ = first;
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> TraceReader::Next(TraceRecord* record) {
  bool any = first_.has_value();
  if (any) {
    *record = *first_;
    first_.reset();
  } else {
    ASSIGN_OR_RETURN(any, Read(record));
  }
  if (any && counts_gpus_) {
    record->requested = record->gpu_milli < 0 ? -1 : (record->gpu_milli + 999) / 1000;
    record->allocated = record->requested;
  }
  return any;
}

absl::StatusOr<bool> TraceReader::Read(TraceRecord* record) {
  for (;;) {
    absl::Status broken;
    const absl::StatusOr<Found> found = ReadOne(record, &broken);
    if (!found.ok() || *found == Found::kEnd) {
      return EndOf(found.status());
    }
    ++records_;
    if (*found == Found::kRecord) {
      if (ids_.Insert(record->job_id)) {
        return true;
      }
      broken = absl::AlreadyExistsError(absl::StrCat(path_, ":", record->line, ": job id ",
                                                     record->job_id,
                                                     " was there before: give each job its own"));
    }
    RETURN_IF_ERROR(Skip(broken));
  }
}

// A lenient reader takes a file that ends in the middle for what there is.
absl::StatusOr<bool> TraceReader::EndOf(const absl::Status& status) {
  if (status.ok()) {
    return false;
  }
  if (!lenient_ || !absl::IsDataLoss(status)) {
    return status;
  }
  skipped_.truncated = true;
  if (skipped_.first.empty()) {
    skipped_.first = std::string(status.message());
  }
  return false;
}

absl::Status TraceReader::Skip(const absl::Status& broken) {
  if (!lenient_) {
    return absl::DataLossError(
        absl::StrCat(std::string(broken.message()), "; --lenient leaves such records out"));
  }
  absl::IsAlreadyExists(broken) ? ++skipped_.duplicates : ++skipped_.lines;
  if (skipped_.first.empty()) {
    skipped_.first = std::string(broken.message());
  }
  return absl::OkStatus();
}

absl::Status TraceReader::ErrorAt(std::uint64_t line, const std::string& what) const {
  return absl::DataLossError(absl::StrCat(path_, ":", line, ": ", what));
}

const TraceFormatRow& RowOf(TraceFormat format) {
  return kTraceFormats[static_cast<std::size_t>(format)];
}

const char* Name(TraceFormat format) {
  return RowOf(format).name;
}

absl::StatusOr<TraceFormat> ParseTraceFormat(const std::string& name) {
  for (const TraceFormatRow& row : kTraceFormats) {
    if (name == row.name) {
      return row.format;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", name, "\" is not a format: one of ", TraceFormatNames()));
}

std::string TraceFormatNames() {
  std::string names;
  for (const TraceFormatRow& row : kTraceFormats) {
    const char* const between = &row == &kTraceFormats.back() ? " or " : ", ";
    absl::StrAppend(&names, names.empty() ? "" : between, row.name);
  }
  return names;
}

}  // namespace muster::sim

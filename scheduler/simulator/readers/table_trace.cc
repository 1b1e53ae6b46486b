#include "scheduler/simulator/readers/table_trace.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/simulator/readers/number_text.h"
#include "scheduler/simulator/readers/slurm_values.h"

namespace muster::sim {
namespace {

constexpr std::size_t kAbsent = std::numeric_limits<std::size_t>::max();

bool IsNoRow(const Line& line) {
  return !line.too_long && (Trimmed(line.text).empty() || line.text.front() == '#');
}

// The earliest submission of a table, as far as its rows can be read; -1 for none.
absl::StatusOr<std::int64_t> EarliestSubmission(const std::string& path, char separator) {
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, ByteSource::Open(path));
  if (source->file_size() == 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, ": a dump with dates is read twice, which this cannot be: write it to a file"));
  }
  LineReader lines(std::move(source));
  std::vector<std::string_view> parts;
  Line line;
  std::size_t place = kAbsent;
  std::int64_t earliest = -1;
  for (absl::StatusOr<bool> more = lines.Next(&line); more.ok() && *more;
       more = lines.Next(&line)) {
    if (IsNoRow(line)) {
      continue;
    }
    SplitLine(line.text, separator, &parts);
    if (place == kAbsent) {
      place =
          static_cast<std::size_t>(std::find(parts.begin(), parts.end(), "Submit") - parts.begin());
      continue;
    }
    std::int64_t submit = -1;
    if (place < parts.size() && ReadSlurmTime(parts[place], &submit) && submit >= 0) {
      earliest = earliest < 0 ? submit : std::min(earliest, submit);
    }
  }
  return earliest;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TableReader>> TableReader::Begin(const std::string& path,
                                                                bool lenient,
                                                                std::unique_ptr<ByteSource> source,
                                                                const TableFormat& format) {
  std::unique_ptr<TableReader> reader(new TableReader(path, lenient, std::move(source), format));
  RETURN_IF_ERROR(reader->ReadHeader());
  if (format.has_dates) {
    RETURN_IF_ERROR(reader->FindOrigin());
  }
  RETURN_IF_ERROR(reader->TraceReader::Begin());
  return reader;
}

absl::Status TableReader::FindOrigin() {
  ASSIGN_OR_RETURN(const std::int64_t earliest, EarliestSubmission(path(), format_.separator));
  origin_ = std::max<std::int64_t>(earliest, 0);
  if (earliest >= 0) {
    mutable_header().unix_start = origin_;
  }
  return absl::OkStatus();
}

absl::Status TableReader::ReadHeader() {
  Line line;
  do {
    ASSIGN_OR_RETURN(const bool more, lines_.Next(&line));
    if (!more) {
      return absl::FailedPreconditionError(
          absl::StrCat(path(), ": the trace is empty: name one that has records"));
    }
  } while (IsNoRow(line));
  SplitLine(line.text, format_.separator, &parts_);
  columns_ = parts_.size();
  for (const TableColumn& column : format_.columns) {
    const auto at = std::find(parts_.begin(), parts_.end(), column.name);
    places_.push_back(at == parts_.end() ? kAbsent : static_cast<std::size_t>(at - parts_.begin()));
    if (column.tells && places_.back() == kAbsent) {
      return ErrorAt(line.number,
                     absl::StrCat("there is no column ", column.name, ", which the format ",
                                  Name(format_.format), " has: name another with --format"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<TraceReader::Found> TableReader::ReadOne(TraceRecord* record, absl::Status* broken) {
  Line line;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, lines_.Next(&line));
    if (!more) {
      return Found::kEnd;
    }
    if (IsNoRow(line)) {
      continue;
    }
    TableRow row;
    *broken = ReadRow(line, &row);
    if (broken->ok() && row.is_step) {
      CountStep();
      continue;
    }
    if (broken->ok()) {
      *broken = FinishRow(line, &row);
    }
    *record = row.record;
    return broken->ok() ? Found::kRecord : Found::kBroken;
  }
}

absl::Status TableReader::ReadRow(const Line& line, TableRow* row) {
  if (line.too_long) {
    return ErrorAt(line.number, absl::StrCat("the line is longer than ", kLineBytesMax,
                                             " characters: is this a table?"));
  }
  SplitLine(line.text, format_.separator, &parts_);
  if (parts_.size() != columns_) {
    return ErrorAt(line.number, absl::StrCat(parts_.size(), " columns where the first line names ",
                                             columns_, ": is the file cut off?"));
  }
  row->record.line = line.number;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i] == kAbsent) {
      continue;
    }
    const TableColumn& column = format_.columns[i];
    const std::string_view text = Trimmed(parts_[places_[i]]);
    if (!text.empty() && !column.read(text, row, &mutable_names())) {
      return ErrorAt(line.number,
                     absl::StrCat(column.name, " is ", Shown(text), ": write ", column.expected));
    }
  }
  return absl::OkStatus();
}

// What follows from several columns.
absl::Status TableReader::FinishRow(const Line& line, TableRow* row) const {
  TraceRecord& record = row->record;
  if (!row->has_id) {
    return ErrorAt(line.number, "the row has no job id: give each job its own");
  }
  if (row->start >= 0 && row->end >= 0 && row->end < row->start) {
    return ErrorAt(line.number, absl::StrCat("the job ends at ", row->end, ", before its start at ",
                                             row->start, ": mend one of them"));
  }
  if (record.run_time < 0 && row->start >= 0 && row->end >= 0) {
    record.run_time = row->end - row->start;
  }
  if (record.wait < 0 && row->start >= record.submit) {
    record.wait = row->start - record.submit;
  }
  if (row->gpus >= 0) {
    record.gpu_milli = row->gpus * row->gpu_share;
  }
  record.submit -= format_.has_dates ? origin_ : 0;
  if (record.submit < 0) {
    return ErrorAt(line.number, "the row says not when the job was submitted: add it");
  }
  return absl::OkStatus();
}

}  // namespace muster::sim

#include "scheduler/simulator/schedule/schedule_csv.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"

namespace muster::sim {
namespace {

constexpr const char* kColumns =
    "job_id,submission_time,requested_number_of_resources,requested_time,success,starting_time,"
    "execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,gpus,"
    "nodes,reason,promised_start,earlier_attempts\n";

class RowText {
 public:
  explicit RowText(std::string* text) : text_(text) {}
  void Add(std::int64_t value) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    *end = ',';
    text_->append(digits.data(), static_cast<std::size_t>(end - digits.data()) + 1);
  }
  void Add(double value) {
    std::array<char, 40> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size() - 1, value).ptr;
    *end = ',';
    text_->append(digits.data(), static_cast<std::size_t>(end - digits.data()) + 1);
  }
  void Add(const std::string& value) {
    text_->append(value);
    text_->push_back(',');
  }

 private:
  std::string* text_;
};

}  // namespace

std::string ScheduleHeader() {
  return kColumns;
}

void AppendRow(const ScheduleRow& row, std::string* text) {
  RowText columns(text);
  columns.Add(row.job_id);
  columns.Add(row.submission_time);
  columns.Add(row.requested_resources);
  columns.Add(row.requested_time);
  columns.Add(std::int64_t{row.success ? 1 : 0});
  columns.Add(row.starting_time);
  columns.Add(row.execution_time);
  columns.Add(row.finish_time());
  columns.Add(row.waiting_time());
  columns.Add(row.turnaround_time());
  columns.Add(static_cast<double>(row.turnaround_time()) / static_cast<double>(row.execution_time));
  columns.Add(row.allocated_resources);
  columns.Add(row.gpus);
  if (row.nodes > 0) {
    columns.Add(row.nodes);
  } else {
    columns.Add(std::string());
  }
  columns.Add(row.reason);
  if (row.promised_start != -1) {
    columns.Add(row.promised_start);
  } else {
    columns.Add(std::string());
  }
  text->append(row.earlier_attempts);
  text->push_back('\n');
}

absl::StatusOr<std::unique_ptr<ScheduleReader>> ScheduleReader::Open(
    const std::string& path, const std::vector<std::string>& needed) {
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, ByteSource::Open(path));
  std::unique_ptr<ScheduleReader> reader(new ScheduleReader(path, std::move(source)));
  RETURN_IF_ERROR(reader->ReadHeader(needed));
  return reader;
}

absl::Status ScheduleReader::ReadHeader(const std::vector<std::string>& needed) {
  Line line;
  ASSIGN_OR_RETURN(const bool any, lines_.Next(&line));
  if (any && !line.too_long) {
    columns_ = absl::StrSplit(absl::string_view(line.text.data(), line.text.size()), ',');
  }
  for (const std::string& column : needed) {
    if (std::find(columns_.begin(), columns_.end(), column) == columns_.end()) {
      return absl::FailedPreconditionError(
          absl::StrCat(path_, ":1: there is no column ", column,
                       ": name a table of jobs with a line of column names"));
    }
  }
  return absl::OkStatus();
}

const std::string& ScheduleReader::Text(const std::string& column) const {
  static const std::string nothing;
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  return found == columns_.end() ? nothing
                                 : values_[static_cast<std::size_t>(found - columns_.begin())];
}

absl::Status ScheduleReader::ReadNumber(const char* column, std::int64_t* number) const {
  const std::string& text = Text(column);
  // Other programs write whole seconds as "12.0" or "12.000000".
  const std::size_t point = text.find('.');
  const bool whole =
      point == std::string::npos || text.find_first_not_of('0', point + 1) == std::string::npos;
  if (text.empty() || (whole && absl::SimpleAtoi(text.substr(0, point), number))) {
    return absl::OkStatus();
  }
  return absl::DataLossError(
      absl::StrCat(path_, ":", line_, ": ", column, " is no whole number: mend the table"));
}

absl::StatusOr<bool> ScheduleReader::Next(ScheduleRow* row) {
  Line line;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, lines_.Next(&line));
    if (!more) {
      return false;
    }
    if (line.text.empty() || line.text.front() == '#') {
      partial_ = partial_ || !line.text.empty();
      continue;
    }
    break;
  }
  line_ = line.number;
  if (line.too_long) {
    return absl::DataLossError(absl::StrCat(path_, ":", line_, ": the line is too long"));
  }
  values_ = absl::StrSplit(absl::string_view(line.text.data(), line.text.size()), ',');
  if (values_.size() != columns_.size()) {
    return absl::DataLossError(absl::StrCat(path_, ":", line_, ": ", values_.size(),
                                            " columns where the first line names ", columns_.size(),
                                            ": is the file cut off?"));
  }
  *row = ScheduleRow();
  std::int64_t success = 1;
  RETURN_IF_ERROR(ReadNumber("job_id", &row->job_id));
  RETURN_IF_ERROR(ReadNumber("submission_time", &row->submission_time));
  RETURN_IF_ERROR(ReadNumber("requested_number_of_resources", &row->requested_resources));
  RETURN_IF_ERROR(ReadNumber("requested_time", &row->requested_time));
  RETURN_IF_ERROR(ReadNumber("success", &success));
  RETURN_IF_ERROR(ReadNumber("starting_time", &row->starting_time));
  RETURN_IF_ERROR(ReadNumber("execution_time", &row->execution_time));
  RETURN_IF_ERROR(ReadNumber("promised_start", &row->promised_start));
  RETURN_IF_ERROR(ReadNumber("gpus", &row->gpus));
  RETURN_IF_ERROR(ReadNumber("nodes", &row->nodes));
  row->success = success != 0;
  row->allocated_resources = Text("allocated_resources");
  row->reason = Text("reason");
  row->earlier_attempts = Text("earlier_attempts");
  return true;
}

}  // namespace muster::sim

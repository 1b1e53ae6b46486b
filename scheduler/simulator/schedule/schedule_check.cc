#include "scheduler/simulator/schedule/schedule_check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/simulator/readers/swf.h"
#include "scheduler/simulator/schedule/schedule_csv.h"

namespace muster::sim {
namespace {

constexpr std::size_t kExamplesMax = 10;

// True when the first line looks like one of column names.
absl::StatusOr<bool> IsTable(const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, ByteSource::Open(path));
  LineReader lines(std::move(source));
  Line line;
  ASSIGN_OR_RETURN(const bool any, lines.Next(&line));
  return any && line.text.find("job_id") != std::string_view::npos;
}

}  // namespace

absl::StatusOr<ScheduleCheck> ScheduleCheck::Open(const std::string& path) {
  ScheduleCheck check;
  ASSIGN_OR_RETURN(const bool is_table, IsTable(path));
  if (is_table) {
    ASSIGN_OR_RETURN(const std::unique_ptr<ScheduleReader> reader,
                     ScheduleReader::Open(path, {"job_id", "starting_time"}));
    ScheduleRow row;
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, reader->Next(&row));
      if (!more) {
        break;
      }
      check.starts_.push_back({row.job_id, row.starting_time});
    }
  } else {
    ASSIGN_OR_RETURN(const std::unique_ptr<SwfReader> reader, SwfReader::Open(path, false));
    TraceRecord record;
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, reader->Next(&record));
      if (!more) {
        break;
      }
      check.starts_.push_back({record.job_id, record.submit + record.wait});
    }
  }
  std::sort(check.starts_.begin(), check.starts_.end(),
            [](const Start& a, const Start& b) { return a.job_id < b.job_id; });
  return check;
}

void ScheduleCheck::Restart() {
  report_ = CheckReport();
  for (Start& start : starts_) {
    start.seen = false;
  }
}

void ScheduleCheck::Note(std::string sentence) {
  if (report_.examples.size() < kExamplesMax) {
    report_.examples.push_back(std::move(sentence));
  }
}

void ScheduleCheck::Compare(const ScheduleRow& row) {
  const auto found = std::lower_bound(
      starts_.begin(), starts_.end(), row.job_id,
      [](const Start& start, std::int64_t job_id) { return start.job_id < job_id; });
  if (found == starts_.end() || found->job_id != row.job_id) {
    ++report_.only_here;
    Note(absl::StrCat("job ", row.job_id, " is not in the other schedule"));
    return;
  }
  found->seen = true;
  ++report_.compared;
  if (found->at != row.starting_time) {
    ++report_.different;
    Note(absl::StrCat("job ", row.job_id, " starts at ", row.starting_time, ", there at ",
                      found->at));
  }
}

CheckReport ScheduleCheck::Finish() {
  for (const Start& start : starts_) {
    if (!start.seen) {
      ++report_.only_there;
      Note(absl::StrCat("job ", start.job_id, " is only in the other schedule"));
    }
  }
  return std::move(report_);
}

}  // namespace muster::sim

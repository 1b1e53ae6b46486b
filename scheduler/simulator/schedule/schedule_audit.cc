#include "scheduler/simulator/schedule/schedule_audit.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/simulator/id_set.h"
#include "scheduler/simulator/schedule/schedule_csv.h"

namespace muster::sim {
namespace {

using Range = std::pair<std::int64_t, std::int64_t>;  // first and last processor

struct Holding {
  std::int64_t job_id = 0;
  std::int64_t start = 0;
  std::int64_t finish = 0;
  std::vector<Range> ranges;
};

// "0-3 7"; false when it is not that.
bool ReadRanges(const std::string& text, std::vector<Range>* ranges) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    Range range;
    auto read = std::from_chars(at, end, range.first);
    if (read.ec != std::errc()) {
      return false;
    }
    range.second = range.first;
    if (read.ptr != end && *read.ptr == '-') {
      read = std::from_chars(read.ptr + 1, end, range.second);
      if (read.ec != std::errc()) {
        return false;
      }
    }
    ranges->push_back(range);
    at = read.ptr;
    if (at != end && *at++ != ' ') {
      return false;
    }
  }
  return true;
}

class Audit {
 public:
  explicit Audit(std::int64_t processors) : processors_(processors) {}

  void CheckRow(const ScheduleReader& table, const ScheduleRow& row);
  void CheckMachine();
  AuditReport Report() { return std::move(report_); }

 private:
  void CheckTimes(const ScheduleReader& table, const ScheduleRow& row);
  void CheckProcessors(const ScheduleRow& row);
  void CheckEarlier(const ScheduleRow& row);
  void CheckHolding(const ScheduleRow& row, const std::string& processors, Holding holding);
  bool Occupy(const Holding& holding);
  void Expect(bool holds, const std::string& sentence) {
    if (!holds) {
      report_.first = report_.violations++ == 0 ? sentence : report_.first;
    }
  }

  std::int64_t processors_;
  AuditReport report_;
  std::vector<Holding> holdings_;
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> busy_;  // first: last, job
  IdSet ids_;
};

void Audit::CheckTimes(const ScheduleReader& table, const ScheduleRow& row) {
  const std::string job = absl::StrCat("job ", row.job_id);
  Expect(ids_.Insert(row.job_id), absl::StrCat(job, " is there twice"));
  Expect(row.starting_time >= row.submission_time,
         absl::StrCat(job, " started at ", row.starting_time, ", before its submission at ",
                      row.submission_time));
  Expect(row.execution_time > 0, absl::StrCat(job, " ran for ", row.execution_time, " s"));
  Expect(row.execution_time <= row.requested_time,
         absl::StrCat(job, " ran for ", row.execution_time, " s and had asked for ",
                      row.requested_time, " s"));
  Expect(table.Text("finish_time") == absl::StrCat(row.finish_time()),
         absl::StrCat(job, " does not end when its run time is over"));
  Expect(table.Text("waiting_time") == absl::StrCat(row.waiting_time()),
         absl::StrCat(job, " did not wait from its submission to its start"));
  Expect(table.Text("turnaround_time") == absl::StrCat(row.turnaround_time()),
         absl::StrCat(job, " has a turnaround time that is not wait + run time"));
  if (!table.Text("promised_start").empty()) {
    ++report_.promises;
    Expect(row.starting_time <= row.promised_start,
           absl::StrCat(job, " started at ", row.starting_time, " and had been promised ",
                        row.promised_start));
  }
}

// One attempt of the job, on these processors.
void Audit::CheckHolding(const ScheduleRow& row, const std::string& processors, Holding holding) {
  const bool readable = ReadRanges(processors, &holding.ranges);
  std::int64_t count = 0;
  bool exist = true;
  for (const Range& range : holding.ranges) {
    exist = exist && range.first >= 0 && range.first <= range.second && range.second < processors_;
    count += range.second - range.first + 1;
  }
  const std::string job = absl::StrCat("job ", row.job_id);
  Expect(readable && exist, absl::StrCat(job, " ran on \"", processors,
                                         "\", and the machine has 0-", processors_ - 1));
  const bool whole_cores = row.nodes > 0 && count > row.requested_resources;
  Expect(!readable || !exist || count == row.requested_resources || whole_cores,
         absl::StrCat(job, " ran on ", count, " processors and had asked for ",
                      row.requested_resources));
  if (readable && exist && holding.start < holding.finish) {
    holdings_.push_back(std::move(holding));
  }
}

void Audit::CheckProcessors(const ScheduleRow& row) {
  CheckHolding(row, row.allocated_resources,
               {row.job_id, row.starting_time, row.finish_time(), {}});
}

// Attempts that were ended, "10-25:0-3 7;40-52:0-4": one after the other, within the limit, and
// holding processors as any other.
void Audit::CheckEarlier(const ScheduleRow& row) {
  if (row.earlier_attempts.empty()) {
    return;
  }
  const std::string job = absl::StrCat("job ", row.job_id);
  std::int64_t before = row.submission_time;
  for (const absl::string_view attempt : absl::StrSplit(row.earlier_attempts, ';')) {
    const std::vector<std::string> halves = absl::StrSplit(attempt, absl::MaxSplits(':', 1));
    std::vector<Range> time;
    if (halves.size() != 2 || !ReadRanges(halves[0], &time) || time.size() != 1) {
      Expect(false, absl::StrCat(job, " has earlier attempts that cannot be read: \"",
                                 row.earlier_attempts, "\""));
      return;
    }
    const auto& [start, finish] = time.front();
    ++report_.restarts;
    Expect(start >= before && finish > start,
           absl::StrCat(job, " has an attempt from ", start, " to ", finish,
                        ", which is empty or before the one before it ended"));
    Expect(finish - start <= row.requested_time,
           absl::StrCat(job, " has an attempt of ", finish - start, " s and had asked for ",
                        row.requested_time, " s"));
    before = finish;
    CheckHolding(row, halves[1], {row.job_id, start, finish, {}});
  }
  Expect(row.starting_time >= before,
         absl::StrCat(job, " started at ", row.starting_time,
                      ", before its earlier attempt ended at ", before));
}

void Audit::CheckRow(const ScheduleReader& table, const ScheduleRow& row) {
  ++report_.jobs;
  CheckTimes(table, row);
  CheckProcessors(row);
  CheckEarlier(row);
}

// False, with the sentence, when another job has one of the processors.
bool Audit::Occupy(const Holding& holding) {
  for (const Range& range : holding.ranges) {
    auto next = busy_.lower_bound(range.first);
    if (next != busy_.begin() && std::prev(next)->second.first >= range.first) {
      --next;
    }
    if (next != busy_.end() && next->first <= range.second) {
      Expect(false, absl::StrCat("jobs ", next->second.second, " and ", holding.job_id,
                                 " both ran on processor ", std::max(next->first, range.first),
                                 " at ", holding.start));
      return false;
    }
    busy_.emplace(range.first, std::pair(range.second, holding.job_id));
  }
  return true;
}

// Through time, ends before starts of the same moment.
void Audit::CheckMachine() {
  using Moment = std::tuple<std::int64_t, bool, std::size_t>;  // time, is a start, which
  std::vector<Moment> moments;
  moments.reserve(holdings_.size() * 2);
  for (std::size_t i = 0; i < holdings_.size(); ++i) {
    moments.emplace_back(holdings_[i].start, true, i);
    moments.emplace_back(holdings_[i].finish, false, i);
  }
  std::sort(moments.begin(), moments.end());
  std::int64_t in_use = 0;
  for (const auto& [time, is_start, which] : moments) {
    const Holding& holding = holdings_[which];
    if (is_start && !Occupy(holding)) {
      return;  // What follows would blame others.
    }
    for (const Range& range : holding.ranges) {
      in_use += (is_start ? 1 : -1) * (range.second - range.first + 1);
      if (!is_start) {
        busy_.erase(range.first);
      }
    }
    report_.most_in_use = std::max(report_.most_in_use, in_use);
  }
}

}  // namespace

absl::StatusOr<AuditReport> AuditSchedule(const std::string& table, std::int64_t processors) {
  ASSIGN_OR_RETURN(
      const std::unique_ptr<ScheduleReader> reader,
      ScheduleReader::Open(
          table, {"job_id", "submission_time", "requested_number_of_resources", "requested_time",
                  "starting_time", "execution_time", "finish_time", "waiting_time",
                  "turnaround_time", "allocated_resources", "promised_start"}));
  Audit audit(processors);
  ScheduleRow row;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, reader->Next(&row));
    if (!more) {
      break;
    }
    audit.CheckRow(*reader, row);
  }
  audit.CheckMachine();
  AuditReport report = audit.Report();
  report.partial = reader->partial();
  return report;
}

}  // namespace muster::sim

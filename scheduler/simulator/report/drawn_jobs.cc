#include "scheduler/simulator/report/drawn_jobs.h"

#include <cstdlib>

#include "absl/strings/str_split.h"

namespace muster::sim {

// "10-25:0-3 7;40-52:0-4", as rows have it.
void DrawnJobs::AddEarlier(const ScheduleRow& row) {
  std::int64_t since = row.submission_time;
  for (const std::string& attempt :
       std::vector<std::string>(absl::StrSplit(row.earlier_attempts, ';', absl::SkipEmpty()))) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(attempt, absl::MaxSplits(':', 1));
    char* after = nullptr;
    const std::int64_t start = std::strtoll(parts.first.c_str(), &after, 10);
    const std::int64_t end = *after == '-' ? std::strtoll(after + 1, nullptr, 10) : start;
    jobs_.push_back({.id = row.job_id,
                     .submit = row.submission_time,
                     .wait = start - row.submission_time,
                     .run_time = end - start,
                     .processors = row.requested_resources,
                     .user = row.user,
                     .partition = row.partition,
                     .reason = reasons_.NumberOf("ended early, and begun again"),
                     .ranges = parts.second,
                     .since = since,
                     .earlier = true});
    since = end;
  }
}

void DrawnJobs::Add(const ScheduleRow& row) {
  if (jobs_.size() >= kDrawnMax) {
    ++left_out_;
    return;
  }
  const std::size_t before = jobs_.size();
  AddEarlier(row);
  const bool again = jobs_.size() > before;
  jobs_.push_back({.id = row.job_id,
                   .submit = row.submission_time,
                   .wait = row.waiting_time(),
                   .run_time = row.execution_time,
                   .processors = row.requested_resources,
                   .user = row.user,
                   .partition = row.partition,
                   .reason = reasons_.NumberOf(row.reason),
                   .ranges = row.allocated_resources,
                   .since = again ? jobs_.back().submit + jobs_.back().wait + jobs_.back().run_time
                                  : row.submission_time,
                   .earlier = false});
}

void DrawnJobs::Clear() {
  jobs_.clear();
  left_out_ = 0;
}

}  // namespace muster::sim

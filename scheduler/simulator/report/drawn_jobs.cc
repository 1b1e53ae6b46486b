#include "scheduler/simulator/report/drawn_jobs.h"

namespace muster {

void DrawnJobs::Add(const ScheduleRow& row) {
  if (jobs_.size() >= kDrawnMax) {
    ++left_out_;
    return;
  }
  jobs_.push_back({.id = row.job_id,
                   .submit = row.submission_time,
                   .wait = row.waiting_time(),
                   .run_time = row.execution_time,
                   .processors = row.requested_resources,
                   .user = row.user,
                   .partition = row.partition,
                   .reason = reasons_.NumberOf(row.reason),
                   .ranges = row.allocated_resources});
}

void DrawnJobs::Clear() {
  jobs_.clear();
  left_out_ = 0;
}

}  // namespace muster

#include "scheduler/simulator/workload/arrivals.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::sim {

Arrivals::Arrivals(std::unique_ptr<TraceReader> reader, const ArrivalOptions& options)
    : reader_(std::move(reader)), options_(options) {}

absl::StatusOr<const TraceJob*> Arrivals::Peek() {
  if (next_ < batch_.size()) {
    return &batch_[next_];
  }
  batch_.clear();
  next_ = 0;
  RETURN_IF_ERROR(options_.sorted ? ReadAll() : ReadInstant());
  return batch_.empty() ? nullptr : batch_.data();
}

// Everything that arrives together: a record tells by being later that they are complete.
absl::Status Arrivals::ReadInstant() {
  if (!begun_) {
    begun_ = true;
    ASSIGN_OR_RETURN(has_ahead_, ReadJob(&ahead_));
  }
  while (has_ahead_ && (batch_.empty() || ahead_.submit == batch_.front().submit)) {
    batch_.push_back(ahead_);
    ASSIGN_OR_RETURN(has_ahead_, ReadJob(&ahead_));
  }
  if (has_ahead_ && ahead_.submit < batch_.front().submit) {
    return absl::AbortedError(
        absl::StrCat(reader_->path(), ": records are not in order of submission"));
  }
  SortById();
  return absl::OkStatus();
}

absl::Status Arrivals::ReadAll() {
  if (begun_) {
    return absl::OkStatus();
  }
  begun_ = true;
  TraceJob job;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, ReadJob(&job));
    if (!more) {
      break;
    }
    batch_.push_back(job);
  }
  std::stable_sort(batch_.begin(), batch_.end(), [this](const TraceJob& a, const TraceJob& b) {
    return a.submit != b.submit ? a.submit < b.submit : !options_.file_order && a.id < b.id;
  });
  return absl::OkStatus();
}

void Arrivals::SortById() {
  const auto by_id = [](const TraceJob& a, const TraceJob& b) { return a.id < b.id; };
  if (!options_.file_order && !std::is_sorted(batch_.begin(), batch_.end(), by_id)) {
    std::sort(batch_.begin(), batch_.end(), by_id);
  }
}

absl::StatusOr<bool> Arrivals::ReadJob(TraceJob* job) {
  TraceRecord record;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, reader_->Next(&record));
    if (!more) {
      return false;
    }
    if (MakeJob(record, job)) {
      return true;
    }
  }
}

// The rules of the published table's filter that are its own; it looks at allocated processors too.
bool Arrivals::IsSc15Dropped(const TraceRecord& record) {
  if (record.allocated > options_.processors || record.requested > options_.processors) {
    ++dropped_.too_large;
    return true;
  }
  if (record.allocated <= 0 && record.requested <= 0) {
    ++dropped_.no_processors;
    return true;
  }
  if (record.run_time <= 0) {
    ++dropped_.no_run_time;
    return true;
  }
  if (record.requested_time <= 0) {
    ++dropped_.no_requested_time;
    return true;
  }
  dropped_.before_zero += record.submit < 0 ? 1 : 0;
  return record.submit < 0;
}

bool Arrivals::MakeJob(const TraceRecord& record, TraceJob* job) {
  if (options_.filter == RecordFilter::kSc15 && IsSc15Dropped(record)) {
    return false;
  }
  constexpr std::int64_t kMilli = 1000;
  job->processors = record.requested > 0 ? record.requested : record.allocated;
  job->gpus = record.gpu_milli > 0 ? (record.gpu_milli + kMilli - 1) / kMilli : 0;
  job->memory_mib = record.memory_mib;
  job->gres = record.gres;
  job->nodes = record.nodes;
  if (options_.gpus_stand_for_cpus && job->processors <= 0) {
    job->processors = job->gpus;
  }
  if (record.run_time <= 0) {
    ++dropped_.no_run_time;
    return false;
  }
  if (job->processors <= 0) {
    ++dropped_.no_processors;
    return false;
  }
  if (job->processors > options_.processors) {
    ++dropped_.too_large;
    return false;
  }
  job->id = record.job_id;
  job->submit = record.submit;
  job->user = record.user;
  job->group = record.group;
  job->partition = record.partition;
  job->queue = record.queue;
  job->requested_time = record.requested_time > 0 ? record.requested_time : record.run_time;
  job->run_time = std::min(record.run_time, job->requested_time);
  job->cut_off = record.run_time > job->requested_time;
  return true;
}

}  // namespace muster::sim

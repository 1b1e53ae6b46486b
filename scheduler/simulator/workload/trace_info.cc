#include "scheduler/simulator/workload/trace_info.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::sim {
namespace {

constexpr std::int64_t kWeek = std::int64_t{7} * 24 * 3600;
constexpr std::size_t kWeeksMax = 10'000;  // 190 years: later ones are counted with the last

class Describer {
 public:
  explicit Describer(TraceInfo* info) : info_(*info) {}

  void Add(const TraceRecord& record) {
    info_.out_of_order += any_ && record.submit < before_ ? 1 : 0;
    before_ = record.submit;
    any_ = true;
    const std::int64_t processors = record.requested > 0 ? record.requested : record.allocated;
    if (record.run_time <= 0 || processors <= 0) {
      ++(record.run_time <= 0 ? info_.no_run_time : info_.no_processors);
      return;
    }
    const std::int64_t machine = info_.header.max_procs.value_or(0);
    info_.too_large += machine > 0 && processors > machine ? 1 : 0;
    AddJob(record, processors);
  }

  void Finish() {
    const auto machine = static_cast<double>(info_.header.max_procs.value_or(0));
    const auto span = static_cast<double>(info_.last_submit - info_.first_submit);
    info_.users = users_.size();
    if (info_.with_estimate != 0) {
      info_.estimate_used /= static_cast<double>(info_.with_estimate);
    }
    if (machine <= 0) {
      return;
    }
    info_.load = span > 0 ? work_ / (machine * span) : 0;
    for (TraceWeek& week : info_.weeks) {
      week.load = week.work / (machine * static_cast<double>(kWeek));
    }
  }

 private:
  void AddJob(const TraceRecord& record, std::int64_t processors) {
    info_.first_submit =
        info_.jobs == 0 ? record.submit : std::min(info_.first_submit, record.submit);
    info_.last_submit =
        info_.jobs == 0 ? record.submit : std::max(info_.last_submit, record.submit);
    ++info_.jobs;
    info_.largest = std::max(info_.largest, processors);
    if (record.user >= 0) {
      users_.insert(record.user);
    }
    if (record.gpu_milli > 0) {
      ++info_.with_gpus;
      info_.gpu_hours += static_cast<double>(record.gpu_milli) *
                         static_cast<double>(record.run_time) / (1000.0 * 3600.0);
    }
    if (record.requested_time > 0) {
      ++info_.with_estimate;
      info_.over_estimate += record.run_time > record.requested_time ? 1 : 0;
      info_.estimate_used += std::min(
          1.0, static_cast<double>(record.run_time) / static_cast<double>(record.requested_time));
    }
    const double work = static_cast<double>(record.run_time) * static_cast<double>(processors);
    work_ += work;
    const std::int64_t since = std::max<std::int64_t>(record.submit - info_.first_submit, 0);
    const std::size_t week = std::min(static_cast<std::size_t>(since / kWeek), kWeeksMax - 1);
    if (week >= info_.weeks.size()) {
      info_.weeks.resize(week + 1);
    }
    ++info_.weeks[week].jobs;
    info_.weeks[week].work += work;
  }

  TraceInfo& info_;
  std::set<std::int64_t> users_;
  std::int64_t before_ = 0;
  bool any_ = false;
  double work_ = 0;
};

}  // namespace

absl::StatusOr<TraceInfo> DescribeTrace(const TraceOptions& options, const MachineSize& machine) {
  ASSIGN_OR_RETURN(const OpenedTrace trace, OpenTrace(options));
  const std::unique_ptr<TraceReader>& reader = trace.reader;
  TraceInfo info;
  info.format = trace.format;
  info.counts_gpus = trace.counts_gpus;
  info.header = reader->header();
  const std::int64_t processors = info.counts_gpus ? machine.gpus : machine.cpus;
  if (processors > 0) {
    info.header.max_procs = processors;
  }
  Describer describer(&info);
  TraceRecord record;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, reader->Next(&record));
    if (!more) {
      break;
    }
    describer.Add(record);
  }
  describer.Finish();
  info.records = reader->records();
  info.steps = reader->steps();
  info.skipped = reader->skipped();
  if (info.records == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(options.path, ": the trace is empty: name one that has records"));
  }
  return info;
}

}  // namespace muster::sim

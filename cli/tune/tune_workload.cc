#include "cli/tune/tune_workload.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/model/value/fingerprint.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/simulator/schedule/trace_text.h"

namespace muster::cli {
namespace {

constexpr std::int64_t kDay = 86'400;
constexpr std::uint64_t kJobsLeast = 100;  // fewer say nothing
constexpr std::uint32_t kHistoryMost = 1'000'000;

// Two thirds of the jobs are trained on.
absl::Status Finish(std::vector<sim::TraceRecord> records, const sim::TraceHeader& header,
                    TuneWorkload* workload) {
  std::stable_sort(records.begin(), records.end(),
                   [](const auto& a, const auto& b) { return a.submit < b.submit; });
  if (records.size() < kJobsLeast) {
    return absl::FailedPreconditionError(absl::StrCat(workload->name, ": only ", records.size(),
                                                      " jobs have run in these days: at least ",
                                                      kJobsLeast, " are needed: take more --days"));
  }
  ASSIGN_OR_RETURN(workload->file,
                   ResultFile::CreateTemporary(std::filesystem::temp_directory_path().string()));
  Fingerprint print;
  std::string text = sim::SwfHeaderText(header, "the jobs that muster tune tries settings on");
  for (const sim::TraceRecord& record : records) {
    sim::AppendSwf(record, &text);
    constexpr std::size_t kAtOnce = 1U << 20;
    if (text.size() > kAtOnce) {
      print.Add(text);
      RETURN_IF_ERROR(workload->file->Append(text));
      text.clear();
    }
  }
  print.Add(text);
  RETURN_IF_ERROR(workload->file->Append(text));
  RETURN_IF_ERROR(workload->file->Finish());
  workload->print = print.Add(workload->processors).value();
  workload->jobs = records.size();
  workload->first = records.front().submit;
  workload->last = records.back().submit;
  workload->split = records[records.size() / 3 * 2].submit;
  return absl::OkStatus();
}

bool HasRun(const sim::TraceRecord& record) {
  return record.run_time > 0 && std::max(record.requested, record.allocated) > 0;
}

sim::TraceRecord RecordOf(const JobView& job) {
  const auto seconds = [](Time time) {
    return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
  };
  sim::TraceRecord record;
  record.job_id = static_cast<std::int64_t>(job.id.value());
  record.submit = seconds(job.submit_time);
  record.wait = std::max<std::int64_t>(0, seconds(job.start_time) - record.submit);
  record.run_time = std::max<std::int64_t>(1, seconds(job.end_time) - seconds(job.start_time));
  record.requested = std::max<std::int64_t>(1, job.cpus);
  record.allocated = record.requested;
  const std::int64_t limit = job.time_limit.count() / 1000;
  record.requested_time = limit > 0 ? limit : -1;
  record.status = 1;
  return record;
}

}  // namespace

absl::StatusOr<TuneWorkload> WorkloadOfTrace(const sim::TraceOptions& trace, std::int64_t days,
                                             std::int64_t processors) {
  TuneWorkload workload;
  workload.name = trace.path;
  ASSIGN_OR_RETURN(const sim::OpenedTrace opened, sim::OpenTrace(trace));
  std::vector<sim::TraceRecord> records;
  std::int64_t last = 0;
  for (sim::TraceRecord record;;) {
    ASSIGN_OR_RETURN(const bool more, opened.reader->Next(&record));
    if (!more) {
      break;
    }
    if (HasRun(record)) {
      records.push_back(record);
      last = std::max(last, record.submit);
    }
  }
  std::erase_if(records, [&](const sim::TraceRecord& record) {
    return days > 0 && record.submit < last - days * kDay;
  });
  sim::TraceHeader header = opened.reader->header();
  workload.processors = processors > 0 ? processors : header.max_procs.value_or(0);
  if (workload.processors <= 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        trace.path, ": does not say how many processors there are: say it with --flat P"));
  }
  header.max_procs = workload.processors;
  workload.names = opened.reader->names();
  RETURN_IF_ERROR(Finish(std::move(records), header, &workload));
  return workload;
}

absl::StatusOr<TuneWorkload> WorkloadOfHistory(const std::string& name, Connection& connection,
                                               std::int64_t days, std::int64_t processors) {
  TuneWorkload workload;
  workload.name = name;
  ListHistory query;
  query.limit = kHistoryMost;
  const Time now = SystemClock().Now();
  query.since = days > 0 ? now - std::chrono::hours(24 * days) : kNoTime;
  ASSIGN_OR_RETURN(const std::vector<JobView> jobs, connection.Call(query));
  ASSIGN_OR_RETURN(const NodeList nodes, connection.Call(ListNodes{}));
  std::int64_t threads = 0;
  for (const NodeView& node : nodes.nodes) {
    threads += node.cpus;
  }
  workload.processors = processors > 0 ? processors : threads;
  std::vector<sim::TraceRecord> records;
  for (const JobView& job : jobs) {
    if (job.start_time != kNoTime && job.end_time != kNoTime && job.het_size == 0) {
      records.push_back(RecordOf(job));
      records.back().user = workload.names.users.NumberOf(job.user);
    }
  }
  sim::TraceHeader header;
  header.max_procs = workload.processors;
  RETURN_IF_ERROR(Finish(std::move(records), header, &workload));
  return workload;
}

}  // namespace muster::cli

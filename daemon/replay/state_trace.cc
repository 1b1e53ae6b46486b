#include "daemon/replay/state_trace.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/store/archive/journal_reader.h"
#include "scheduler/base/status.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/machine/amounts.h"

namespace muster::daemon {
namespace {

constexpr std::size_t kPendingBytes = std::size_t{1} << 16U;
constexpr const char* kColumns =
    "job_id,submit,wait,run_time,allocated,requested,requested_time,status,user,group,queue,"
    "partition,gpu_milli,nodes,memory_mib\n";

// As in the Standard Workload Format.
int StatusOf(JobState state) {
  constexpr int kFailed = 0;
  constexpr int kCompleted = 1;
  constexpr int kCancelled = 5;
  return IsSuccess(state) ? kCompleted : IsCancelled(state) ? kCancelled : kFailed;
}

std::int64_t SecondsBetween(Time from, Time to) {
  return std::chrono::floor<std::chrono::seconds>(to - from).count();
}

// A name as a field of the table.
std::string FieldOf(const std::string& name) {
  std::string field = name.empty() ? "-1" : name;
  for (char& c : field) {
    c = c == ',' || c == '"' || c == '\n' ? '_' : c;
  }
  return field;
}

std::string RowOf(const Job& job, const JobEnded& end, Time beginning) {
  const Attempt& attempt = *job.attempt;
  const Amounts held = AmountsOf(attempt.allocation);
  const std::int64_t limit = std::chrono::ceil<std::chrono::seconds>(job.spec->time_limit).count();
  return absl::StrCat(job.id.value(), ",", SecondsBetween(beginning, job.submitted), ",",
                      SecondsBetween(job.submitted, attempt.started), ",",
                      std::max<std::int64_t>(1, SecondsBetween(attempt.started, end.time)), ",",
                      held.cpus, ",", held.cpus, ",", limit > 0 ? limit : -1, ",",
                      StatusOf(end.state), ",", FieldOf(job.spec->user.name), ",",
                      FieldOf(job.spec->account), ",", FieldOf(job.spec->qos), ",",
                      FieldOf(attempt.partition), ",", held.gpu_share, ",",
                      attempt.allocation.nodes.size(), ",", held.memory.value() >> 20U, "\n");
}

}  // namespace

absl::Status WriteStateTrace(const std::string& place, const std::string& archive,
                             const std::function<absl::Status(const std::string&)>& write) {
  ASSIGN_OR_RETURN(const std::unique_ptr<JournalReader> reader,
                   JournalReader::Open(place, archive));
  ASSIGN_OR_RETURN(StateImage image, reader->ReadBeginning());
  std::optional<Time> beginning;  // of the first submission
  if (!image.jobs.empty()) {
    beginning = image.jobs.front().submitted;
  }
  core::ClusterState state(std::move(image));
  std::string pending = kColumns;
  absl::Status status;
  const auto visit = [&](const JournalEntry& entry) {
    if (const auto* submitted = std::get_if<JobSubmitted>(&entry.event)) {
      beginning = beginning.value_or(submitted->time);
    } else if (const auto* end = std::get_if<JobEnded>(&entry.event)) {
      const Job& job = *state.FindJob(end->job);
      if (job.attempt.has_value()) {
        beginning = beginning.value_or(job.submitted);
        pending += RowOf(job, *end, *beginning);
      }
    }
    state.Apply(entry.event);
    if (pending.size() >= kPendingBytes) {
      status = write(pending);
      pending.clear();
    }
    return status.ok();
  };
  RETURN_IF_ERROR(reader->Read(visit, [](const CycleRecord&) { return true; }));
  RETURN_IF_ERROR(status);
  return write(pending);
}

}  // namespace muster::daemon

#include "cli/slurm/format/job_words.h"

#include "absl/strings/str_cat.h"
#include "cli/sheet/job_table.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/model/plan/reason.h"

namespace muster::cli::slurm {
namespace {

bool StandsForSeveral(const JobView& job, const std::vector<std::uint64_t>& elements) {
  return elements.size() > 1 || (!elements.empty() && !job.indices.empty());
}

std::string InDirectory(const std::string& directory, const std::string& path) {
  return path.empty() || path.front() == '/' ? path : absl::StrCat(directory, "/", path);
}

}  // namespace

std::string TaskLabel(const JobView& job, const std::vector<std::uint64_t>& elements) {
  if (!StandsForSeveral(job, elements)) {
    return job.array_task_id;
  }
  return absl::StrCat(NumberList(elements), job.array_throttle == 0 ? "" : "%",
                      job.array_throttle == 0 ? "" : absl::StrCat(job.array_throttle));
}

std::string JobLabel(const JobView& job, const std::vector<std::uint64_t>& elements) {
  return StandsForSeveral(job, elements)
             ? absl::StrCat(job.array_job_id.value(), "_[", TaskLabel(job, elements), "]")
             : job.label;
}

std::string StateWord(const JobView& job) {
  return IsStarting(job.state) ? Name(JobState::kRunning) : job.state;
}

std::string StateLetters(const JobView& job) {
  return StateCode(StateWord(job));
}

std::string ReasonWord(const JobView& job) {
  if (IsTimedOut(job.state)) {
    return "TimeLimit";
  }
  if (IsFailure(job.state)) {
    return job.exit_signal != 0 ? "RaisedSignal" : "NonZeroExitCode";
  }
  if (IsNodeFailure(job.state)) {
    return "NodeDown";
  }
  if (IsOutOfMemory(job.state)) {
    return "OutOfMemory";
  }
  if (IsPastDeadline(job.state)) {
    return "DeadLine";
  }
  const bool unplanned = job.reason.kind == Name(ReasonKind::kNotPlannedYet);
  return !Waits(job) || job.reason.kind.empty() || unplanned ? "None" : job.reason.kind;
}

bool Waits(const JobView& job) {
  return IsWaiting(job.state);
}

bool HasStarted(const JobView& job) {
  return job.start_time != kNoTime;
}

namespace {

bool IsLimit(Duration limit) {
  return limit.count() > 0 && limit < kTimeLimitMax;
}

}  // namespace

bool HasLimit(const JobView& job) {
  return IsLimit(job.time_limit);
}

Time ExpectedEnd(const JobView& job) {
  const bool foreseen = HasStarted(job) && HasLimit(job);
  return job.end_time != kNoTime ? job.end_time
         : foreseen              ? job.start_time + job.time_limit + job.suspended
                                 : kNoTime;
}

std::string ShortLimit(Duration limit) {
  return IsLimit(limit) ? ElapsedText(limit) : "UNLIMITED";
}

std::string LongLimit(Duration limit) {
  return IsLimit(limit) ? LongText(limit) : "UNLIMITED";
}

std::string GresText(const GpuRequest& gpus) {
  return gpus.count == 0
             ? ""
             : absl::StrCat("gres:gpu:", gpus.type, gpus.type.empty() ? "" : ":", gpus.count);
}

std::string NodeGresText(const ResourceRequest& asked) {
  std::string text = GresText(asked.gpus_per_node);
  for (const GresCount& gres : asked.gres) {
    absl::StrAppend(&text, text.empty() ? "" : ",", "gres:", gres.name, ":", gres.count);
  }
  return text;
}

std::string SharingWord(const ResourceRequest& asked) {
  return asked.exclusive ? "NO" : asked.exclusive_user ? "USER" : "OK";
}

std::string OutputFile(const JobDetail& detail) {
  return InDirectory(detail.work_dir, detail.stdout_path);
}

std::string ErrorFile(const JobDetail& detail) {
  return InDirectory(detail.work_dir,
                     detail.stderr_path.empty() ? detail.stdout_path : detail.stderr_path);
}

std::string ExitPair(std::int32_t code, std::int32_t signal) {
  return absl::StrCat(code, ":", signal);
}

}  // namespace muster::cli::slurm

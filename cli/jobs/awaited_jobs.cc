#include "cli/jobs/awaited_jobs.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/controller/query/job_history.h"
#include "cli/page/quantity.h"
#include "cli/page/text.h"
#include "cli/parse/request/dependency.h"
#include "cli/parse/selector.h"
#include "cli/stage/stage_report.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli {
namespace {

constexpr std::size_t kShownMax = 5;
constexpr const char* kNever = "DependencyNeverSatisfied";

void ReadReport(Connection& connection, AwaitedJob& awaited) {
  const auto selector = ParseSelector(awaited.job.label);
  if (!selector.ok()) {
    return;
  }
  const auto curves = connection.Call(ShowCurve{*selector});
  if (!curves.ok() || curves->size() != 1) {
    return;
  }
  for (const ReportedCurve& curve : curves->front().reported) {
    awaited.copied = curve.name == kStagedBytes ? curve.last : awaited.copied;
    awaited.to_copy = curve.name == kStagedTotal ? curve.last : awaited.to_copy;
    awaited.rate = curve.name == kStagedRate ? curve.last : awaited.rate;
  }
}

std::string CopiedText(const AwaitedJob& awaited) {
  const auto bytes = [](double amount) {
    return BytesText(static_cast<std::uint64_t>(amount < 0 ? 0 : amount));
  };
  return awaited.to_copy <= 0
             ? ""
             : absl::StrCat(": ", bytes(awaited.copied), " of ", bytes(awaited.to_copy),
                            " copied, ", ByteRateText(awaited.rate));
}

std::string HowItStands(const JobView& waiting, const AwaitedJob& awaited) {
  const JobView& job = awaited.job;
  if (!IsTerminal(job.state)) {
    return job.start_time == kNoTime ? absl::StrCat(": ", job.reason.text) : CopiedText(awaited);
  }
  const std::string end = absl::StrCat(": ", ExitText({job.exit_code, job.exit_signal}));
  return IsSuccess(job.state)
             ? end
             : absl::StrCat(end, "; muster logs ", job.label, " says why. To go on: muster rerun ",
                            job.label, " and, with its number N, muster update ", waiting.label,
                            " --dependency afterok:N (none: it need not wait); or muster cancel ",
                            waiting.label);
}

}  // namespace

absl::StatusOr<std::vector<AwaitedJob>> AwaitedJobs(Connection& connection,
                                                    const JobView& waiting) {
  std::vector<AwaitedJob> awaited;
  const bool never = waiting.reason.kind == kNever;
  const absl::StatusOr<Dependency> dependency = ParseDependency(waiting.dependency);
  if (IsTerminal(waiting.state) || !dependency.ok() ||
      (waiting.reason.kind != "Dependency" && !never)) {
    return awaited;
  }
  ListHistory question;
  for (const DependencyTerm& term : dependency->terms) {
    if (term.job.valid()) {
      question.jobs.push_back(term.job);
    }
  }
  if (question.jobs.empty()) {
    return awaited;
  }
  ASSIGN_OR_RETURN(std::vector<JobView> jobs, JobsSince(connection, question));
  for (JobView& job : jobs) {
    const bool ended = IsTerminal(job.state);
    if (!ended || (never && !IsSuccess(job.state))) {
      awaited.push_back({.job = std::move(job)});
      if (!ended && awaited.back().job.start_time != kNoTime && awaited.size() <= kShownMax) {
        ReadReport(connection, awaited.back());
      }
    }
  }
  return awaited;
}

std::string AwaitedText(const JobView& waiting, const std::vector<AwaitedJob>& awaited) {
  std::string text;
  for (std::size_t i = 0; i < awaited.size(); ++i) {
    if (i == kShownMax) {
      absl::StrAppend(&text, "  and ", awaited.size() - i, " more that it waits for\n");
      break;
    }
    const JobView& job = awaited[i].job;
    absl::StrAppend(&text, "  job ", Printable(job.label), " (", Printable(job.name), ") ",
                    job.state, Printable(HowItStands(waiting, awaited[i])), "\n");
  }
  return text;
}

}  // namespace muster::cli

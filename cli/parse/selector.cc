#include "cli/parse/selector.h"

#include "absl/strings/str_cat.h"
#include "cli/parse/array.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr std::uint64_t kJobIdMax = INT64_MAX;

absl::Status NotASelector(std::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(
      Quote(text), " is not a job: use a number like 12, 12_3, 12_[3-5,7], 12+1 or [12-40]"));
}

// "[101-110]": jobs that follow each other, as the queue shows those that wait alike.
absl::StatusOr<std::vector<JobSelector>> ParseRun(std::string_view text) {
  const std::string_view inner = text.substr(1, text.size() - 2);
  const std::size_t dash = inner.find('-');
  const absl::StatusOr<std::uint64_t> first = ParseDigits(inner.substr(0, dash), kJobIdMax);
  const absl::StatusOr<std::uint64_t> last =
      dash == std::string_view::npos ? first : ParseDigits(inner.substr(dash + 1), kJobIdMax);
  if (!first.ok() || !last.ok() || *first == 0 || *last < *first) {
    return NotASelector(text);
  }
  if (*last - *first >= kSelectedJobsMax) {
    return absl::InvalidArgumentError(absl::StrCat(Quote(text), " names ", *last - *first + 1,
                                                   " jobs: at most ", kSelectedJobsMax));
  }
  std::vector<JobSelector> jobs;
  for (std::uint64_t job = *first; job <= *last; ++job) {
    jobs.push_back({.job = JobId(job), .elements = {}});
  }
  return jobs;
}

// The elements behind the underscore: "3" or "[3-5,7]".
absl::StatusOr<std::vector<std::uint32_t>> ParseElements(std::string_view text) {
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') {
    ASSIGN_OR_RETURN(const ArraySpec array, ParseArray(text.substr(1, text.size() - 2)));
    if (array.max_running != 0) {
      return absl::InvalidArgumentError("");
    }
    return ArrayIndices(array);
  }
  ASSIGN_OR_RETURN(const std::uint64_t index, ParseDigits(text, kArrayIndexMax));
  return std::vector<std::uint32_t>{static_cast<std::uint32_t>(index)};
}

}  // namespace

absl::StatusOr<JobId> ParseJobId(std::string_view text) {
  const absl::StatusOr<std::uint64_t> job = ParseDigits(text, kJobIdMax);
  if (!job.ok() || *job == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(text), " is not a job: use its number, like 12"));
  }
  return JobId(*job);
}

namespace {

// "12+1".
absl::StatusOr<JobSelector> ParseComponent(std::string_view text, std::size_t plus) {
  constexpr std::uint64_t kComponentMax = 9999;
  const absl::StatusOr<JobId> job = ParseJobId(text.substr(0, plus));
  const absl::StatusOr<std::uint64_t> component = ParseDigits(text.substr(plus + 1), kComponentMax);
  if (!job.ok() || !component.ok()) {
    return NotASelector(text);
  }
  JobSelector selector{.job = *job, .elements = {}};
  selector.component = static_cast<std::uint32_t>(*component);
  return selector;
}

}  // namespace

absl::StatusOr<JobSelector> ParseSelector(std::string_view text) {
  if (const std::size_t plus = text.find('+'); plus != std::string_view::npos) {
    return ParseComponent(text, plus);
  }
  const std::size_t underscore = text.find('_');
  const absl::StatusOr<JobId> job = ParseJobId(text.substr(0, underscore));
  if (!job.ok()) {
    return NotASelector(text);
  }
  JobSelector selector{.job = *job, .elements = {}};
  if (underscore != std::string_view::npos) {
    absl::StatusOr<std::vector<std::uint32_t>> elements =
        ParseElements(text.substr(underscore + 1));
    if (!elements.ok()) {
      return NotASelector(text);
    }
    selector.elements = *std::move(elements);
  }
  return selector;
}

absl::StatusOr<StepSelector> ParseStepSelector(std::string_view text) {
  constexpr std::uint64_t kStepMax = UINT32_MAX;
  const std::size_t dot = text.find('.');
  absl::StatusOr<JobSelector> job = ParseSelector(text.substr(0, dot));
  if (dot == std::string_view::npos) {
    RETURN_IF_ERROR(job.status());
    return StepSelector{*std::move(job), std::nullopt};
  }
  const std::string_view step = text.substr(dot + 1);
  const absl::StatusOr<std::uint64_t> number =
      step == "batch" ? absl::StatusOr<std::uint64_t>(0) : ParseDigits(step, kStepMax);
  if (!job.ok() || !number.ok() || job->elements.size() > 1 || job->component.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(text), " is not a step: use JOB.STEP, like 12.1, 12_3.1 or 12.batch"));
  }
  return StepSelector{*std::move(job), StepId(static_cast<std::uint32_t>(*number))};
}

absl::StatusOr<std::vector<JobSelector>> ParseSelectors(const std::vector<std::string>& texts) {
  std::vector<JobSelector> selectors;
  selectors.reserve(texts.size());
  for (const std::string& text : texts) {
    if (text.size() > 2 && text.front() == '[' && text.back() == ']') {
      ASSIGN_OR_RETURN(const std::vector<JobSelector> run, ParseRun(text));
      selectors.insert(selectors.end(), run.begin(), run.end());
      continue;
    }
    ASSIGN_OR_RETURN(JobSelector selector, ParseSelector(text));
    selectors.push_back(std::move(selector));
  }
  return selectors;
}

absl::StatusOr<std::vector<JobSelector>> ParseWholeJobs(const std::vector<std::string>& texts) {
  ASSIGN_OR_RETURN(std::vector<JobSelector> selectors, ParseSelectors(texts));
  for (const JobSelector& selector : selectors) {
    if (selector.component.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat(
          Quote(absl::StrCat(selector.job.value(), "+", *selector.component)),
          " is a component of a heterogeneous job, whose components live and end together: name ",
          "the whole, ", ToString(selector.job)));
    }
  }
  return selectors;
}

JobId NamedId(const JobSelector& selector) {
  return JobId(selector.job.value() + selector.component.value_or(0));
}

JobSelector ById(const JobSelector& selector) {
  return {NamedId(selector), selector.elements};
}

}  // namespace muster::cli

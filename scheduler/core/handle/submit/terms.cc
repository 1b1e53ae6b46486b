#include "scheduler/core/handle/submit/terms.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/core/place/nodes/feature_match.h"
#include "scheduler/core/state/tables/licenses.h"
#include "scheduler/model/job/program_check.h"
#include "scheduler/model/value/job_text.h"

namespace muster::core {
namespace {

constexpr std::size_t kTermsMax = 1000;
constexpr std::size_t kRecordedMax = 200;
constexpr std::size_t kRecordedBytesMax = 1024;
constexpr std::size_t kTokensMax = 256;
constexpr std::size_t kNamesMax = 65'536;
constexpr std::size_t kTermNameBytesMax = 255;
constexpr Duration kDelayMax = std::chrono::hours(24) * 366;
constexpr Time kTermTimeMax{std::chrono::hours(24) * 365 * 300};

absl::Status CheckDependency(const Dependency& dependency) {
  if (dependency.terms.size() > kTermsMax) {
    return absl::InvalidArgumentError(absl::StrCat("--dependency: ", dependency.terms.size(),
                                                   " terms; at most ", kTermsMax, " are allowed"));
  }
  for (const DependencyTerm& term : dependency.terms) {
    const bool singleton = term.kind == DependencyKind::kSingleton;
    if (term.job.valid() == singleton || (singleton && term.element.has_value())) {
      return absl::InvalidArgumentError(
          absl::StrCat("--dependency: ", ToText(term),
                       singleton ? ": names a job" : ": names no job; write afterok:12"));
    }
    if (term.delay < Duration(0) || term.delay > kDelayMax ||
        (term.delay > Duration(0) && term.kind != DependencyKind::kAfter)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--dependency: ", ToText(term), ": only after:JOB+MINUTES waits, at most 366 days"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckExpression(const FeatureExpression& expression) {
  if (expression.postfix.size() > kTokensMax) {
    return absl::InvalidArgumentError(absl::StrCat("--constraint: ", expression.postfix.size(),
                                                   " names and operators; at most ", kTokensMax,
                                                   " are allowed"));
  }
  const bool named = std::all_of(
      expression.postfix.begin(), expression.postfix.end(), [](const FeatureToken& token) {
        return token.op == FeatureOp::kHas ? IsFeatureName(token.name) : token.name.empty();
      });
  if (!named || !IsComplete(expression)) {
    return absl::InvalidArgumentError("--constraint: is not an expression like a&(b|!c)");
  }
  return absl::OkStatus();
}

absl::Status CheckConstraint(const Constraint& constraint) {
  RETURN_IF_ERROR(CheckExpression(constraint.every));
  if (constraint.counts.size() > kTokensMax) {
    return absl::InvalidArgumentError("--constraint: counts too many features");
  }
  for (const FeatureCount& count : constraint.counts) {
    RETURN_IF_ERROR(CheckExpression(count.expression));
    if (count.nodes == 0 || count.nodes > kNamesMax || count.expression.postfix.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--constraint: a count is FEATURE*N with N from 1 to ", kNamesMax));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckNames(const char* option, const std::vector<std::string>& names) {
  if (names.size() > kNamesMax) {
    return absl::InvalidArgumentError(absl::StrCat(option, ": names ", names.size(),
                                                   " nodes; at most ", kNamesMax, " are allowed"));
  }
  for (const std::string& name : names) {
    const bool fits =
        !name.empty() && name.size() <= kTermNameBytesMax &&
        std::none_of(name.begin(), name.end(), [](char c) { return c <= 0x20 || c == 0x7f; });
    if (!fits) {
      return absl::InvalidArgumentError(
          absl::StrCat(option, ": a node's name has 1 to 255 printable characters and no space"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckNodesAsked(const ResourceRequest& request) {
  RETURN_IF_ERROR(CheckConstraint(request.constraint));
  RETURN_IF_ERROR(CheckNames("--nodelist", request.nodelist));
  RETURN_IF_ERROR(CheckNames("--exclude", request.exclude));
  for (const std::string& name : request.nodelist) {
    if (std::find(request.exclude.begin(), request.exclude.end(), name) != request.exclude.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--exclude: ", name, " is in --nodelist too; leave it out of one"));
    }
  }
  return absl::OkStatus();
}

// What is kept with a job as text: `all` is what they are called, `one` each of them.
absl::Status CheckLines(const char* all, const char* one, const std::vector<std::string>& lines) {
  if (lines.size() > kRecordedMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(lines.size(), " ", all, "; at most ", kRecordedMax));
  }
  for (const std::string& line : lines) {
    RETURN_IF_ERROR(CheckJobText(one, line, kRecordedBytesMax));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTerms(const JobSpec& spec, const SchedulerConfig& config) {
  RETURN_IF_ERROR(CheckLines("options without effect", "an option without effect", spec.recorded));
  RETURN_IF_ERROR(CheckPaths(spec.paths));
  RETURN_IF_ERROR(CheckLines("lines of its record", "a line of its record", spec.record));
  RETURN_IF_ERROR(CheckDependency(spec.dependency));
  RETURN_IF_ERROR(CheckConstraint(spec.prefer));
  RETURN_IF_ERROR(CheckNodesAsked(spec.request));
  for (const Alternative& alternative : spec.alternatives) {
    RETURN_IF_ERROR(CheckNodesAsked(alternative.request));
  }
  if (spec.deadline < kNoTime || spec.deadline > kTermTimeMax) {
    return absl::InvalidArgumentError("--deadline: is not between the years 1970 and 2270");
  }
  return CheckLicenses(spec.licenses, config);
}

absl::Status FillNamedNodes(ResourceRequest& request) {
  std::sort(request.nodelist.begin(), request.nodelist.end());
  request.nodelist.erase(std::unique(request.nodelist.begin(), request.nodelist.end()),
                         request.nodelist.end());
  std::uint64_t counted = 0;
  std::uint32_t highest = 0;
  for (const FeatureCount& count : request.constraint.counts) {
    counted += count.nodes;
    highest = std::max(highest, count.nodes);
  }
  const bool said = request.min_nodes > 0 || request.max_nodes > 0;
  const std::uint64_t least =
      std::max<std::uint64_t>(request.nodelist.size(), said ? highest : counted);
  if (least > kNamesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("--constraint: counts ", least, " nodes; at most ", kNamesMax));
  }
  if (request.max_nodes > 0 && request.max_nodes < least) {
    return absl::InvalidArgumentError(
        absl::StrCat(request.nodelist.size() == least ? "--nodelist" : "--constraint", ": needs ",
                     least, " nodes; --nodes allows ", request.max_nodes));
  }
  request.min_nodes = std::max(request.min_nodes, static_cast<std::uint32_t>(least));
  return absl::OkStatus();
}

}  // namespace muster::core

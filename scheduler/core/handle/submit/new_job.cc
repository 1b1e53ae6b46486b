#include "scheduler/core/handle/submit/new_job.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/core/policy/job_access.h"

namespace muster::core {
namespace {

// Limits between --time and --time-min that are tried, both included.
constexpr int kLimitSteps = 5;

// The request on nodes that have what is preferred, too.
ResourceRequest Preferring(const ResourceRequest& request, const FeatureExpression& preferred) {
  ResourceRequest both = request;
  std::vector<FeatureToken>& postfix = both.constraint.every.postfix;
  const bool alone = postfix.empty();
  postfix.insert(postfix.end(), preferred.postfix.begin(), preferred.postfix.end());
  if (!alone) {
    postfix.push_back(FeatureToken{FeatureOp::kAnd, ""});
  }
  return both;
}

// From `most` down to `least`, in whole seconds and equal steps.
std::vector<Duration> LimitsBetween(Duration least, Duration most) {
  std::vector<Duration> limits = {most};
  for (int step = 1; step < kLimitSteps && least < most; ++step) {
    const Duration limit =
        std::chrono::ceil<std::chrono::seconds>(most - (most - least) / (kLimitSteps - 1) * step);
    limits.push_back(step + 1 == kLimitSteps ? least : std::max(limit, least));
  }
  return limits;
}

}  // namespace

absl::Status BeginNew(const Actor& by, const SchedulerConfig& config, JobSpec& spec) {
  if (spec.nice < 0 && !IsOperator(by, config)) {
    return absl::InvalidArgumentError("--nice: only operators raise a priority; use 0 or more");
  }
  spec.request.own_gpus = spec.request.gpus_per_task.count > 0;
  for (Alternative& alternative : spec.alternatives) {
    alternative.request.own_gpus = alternative.request.gpus_per_task.count > 0;
  }
  if (spec.priority > 0 && !IsOperator(by, config)) {
    spec.recorded.push_back(absl::StrCat("priority=", spec.priority));
    spec.priority = 0;
  }
  return absl::OkStatus();
}

void RecordChoices(JobSpec& spec) {
  if (spec.time_min > Duration(0)) {
    spec.recorded.push_back(absl::StrCat("time-min=", PeriodText(spec.time_min)));
    spec.time_min = Duration(0);
  }
  if (!spec.prefer.every.postfix.empty() || !spec.prefer.counts.empty()) {
    spec.recorded.push_back(absl::StrCat("prefer=", ToText(spec.prefer)));
    spec.prefer = Constraint();
  }
}

absl::Status AddChoices(const SchedulerConfig& config, JobSpec& spec) {
  const bool prefers = !spec.prefer.every.postfix.empty() || !spec.prefer.counts.empty();
  const char* const option = prefers ? "--prefer" : "--time-min";
  if (!prefers && spec.time_min == Duration(0)) {
    return absl::OkStatus();
  }
  if (!spec.prefer.counts.empty()) {
    return absl::InvalidArgumentError("--prefer: takes features without counts of nodes");
  }
  if (!spec.alternatives.empty() || spec.elastic) {
    return absl::InvalidArgumentError(absl::StrCat(
        option, ": excludes ", spec.elastic ? "--elastic" : "--alt", "; leave one out"));
  }
  const Duration most =
      spec.time_limit == Duration(0) ? config.default_time_limit : spec.time_limit;
  if (spec.time_min < Duration(0) || spec.time_min > most) {
    return absl::InvalidArgumentError("--time-min: is more than --time; give less");
  }
  const Duration least = spec.time_min == Duration(0) ? most : spec.time_min;
  for (const Duration limit : LimitsBetween(least, most)) {
    if (prefers) {
      spec.alternatives.push_back({Preferring(spec.request, spec.prefer.every), limit});
    }
    spec.alternatives.push_back({spec.request, limit});
  }
  spec.request = spec.alternatives.front().request;
  spec.time_limit = spec.alternatives.front().time_limit;
  return absl::OkStatus();
}

}  // namespace muster::core

#include "scheduler/core/plan/queue/prompt_keys.h"

#include <algorithm>

namespace muster::core {
namespace {

constexpr std::int64_t kThousand = 1000;

std::int64_t SinceWhen(const WaitingJob& job) {
  return std::max(job.submitted, job.spec->begin).time_since_epoch().count();
}

}  // namespace

PromptRules RulesOf(const PromptPolicy& policy) {
  PromptRules rules;
  rules.stretch_permille = policy.stretch_permille;
  rules.patience = policy.patience.count();
  rules.backlog_permille = policy.backlog_permille;
  rules.slack = policy.slack.count();
  return rules;
}

PromptKeys::PromptKeys(const Snapshot& snapshot, const SchedulerConfig& config,
                       const Backlog& backlog)
    : snapshot_(snapshot),
      backlog_(backlog),
      rules_(RulesOf(config.prompt)),
      point_(kThousand * kThousand) {
  if (config.priority.weight_age > 0) {
    point_ = std::min(config.priority.max_age.count(), kLongSpan / kThousand) * kThousand /
             config.priority.weight_age;
  }
}

bool PromptKeys::IsImpatient(const WaitingJob& job) const {
  const std::int64_t waited = snapshot_.now.time_since_epoch().count() - SinceWhen(job);
  if (waited < PatienceAt(rules_, 0)) {
    return false;  // whatever the backlog is, which takes a look at all jobs
  }
  if (!patience_.has_value()) {
    patience_ = PatienceAt(rules_, backlog_.All().count());
  }
  return waited >= *patience_;
}

std::int64_t PromptKeys::KeyOf(const WaitingJob& job, Factor fairshare, std::int64_t points) const {
  const std::int64_t estimate =
      WeighedEstimate(EstimateOf(*job.spec, job.estimate).count(), fairshare.value());
  const std::int64_t most = kLongSpan / std::max<std::int64_t>(1, point_ / kThousand + 1);
  const std::int64_t worth = std::clamp(points, -most, most) * point_ / kThousand;
  return PromptKey(rules_, SinceWhen(job), estimate) - worth;
}

}  // namespace muster::core

#include "scheduler/simulator/questions/plan_check.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/core/explain/counterfactual.h"
#include "scheduler/core/explain/explain.h"

namespace muster::sim {
namespace {

// Every eighth look asks about a job; now and then one also asks what would help it.
constexpr std::uint64_t kAskEvery = 8;
constexpr std::uint64_t kChangesEvery = 128;

}  // namespace

std::optional<std::string> WrongAnswer(const Snapshot& snapshot, JobId job, const Plan& plan,
                                       const SchedulerConfig& config, bool changes) {
  const Explanation answer = core::ExplainWaiting(snapshot, job, plan, config);
  if (answer.summary.empty()) {
    return absl::StrCat("job ", ToString(job), " waits without a reason in words");
  }
  if (!changes) {
    return std::nullopt;
  }
  const core::Forecast now = core::ForecastOf(snapshot, job, config);
  for (const Suggestion& suggestion : core::SuggestChanges(snapshot, job, config)) {
    if (suggestion.change.empty() || suggestion.start == kNoTime ||
        (now.start != kNoTime && suggestion.start >= now.start)) {
      return absl::StrCat("job ", ToString(job), " is told that '", suggestion.change,
                          "' helps, which does not");
    }
  }
  return std::nullopt;
}

std::optional<std::string> PlanCheck::Look(const Snapshot& snapshot, const Plan& plan,
                                           const SchedulerConfig& config) {
  ++looks_;
  const std::vector<OverlookedJob> overlooked =
      watchdog_.ReportOverlooked(core::FindOverlooked(snapshot, plan, config));
  if (!overlooked.empty()) {
    return absl::StrCat(
        "promise 8: job ", ToString(overlooked.front().job),
        " waits, cycle after cycle, though it fits on idle nodes; it is told: ",
        core::ExplainWaiting(snapshot, overlooked.front().job, plan, config).summary);
  }
  if (plan.waiting.empty() || looks_ % kAskEvery != 0) {
    return std::nullopt;
  }
  const JobId job = plan.waiting[looks_ / kAskEvery % plan.waiting.size()].job;
  return WrongAnswer(snapshot, job, plan, config, looks_ % kChangesEvery == 0);
}

}  // namespace muster::sim

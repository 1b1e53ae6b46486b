#include "scheduler/core/explain/explain.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/core/place/placement.h"
#include "scheduler/core/place/request.h"
#include "scheduler/core/plan/queue/queue_priority.h"
#include "scheduler/core/plan/queue/waiting_jobs.h"
#include "scheduler/core/plan/search/feasibility.h"
#include "scheduler/core/policy/policy_filter.h"
#include "scheduler/core/state/tables/charge.h"
#include "scheduler/model/plan/reason.h"

namespace muster::core {
namespace {

LeftWaiting WhyLeft(JobId job, const Plan& plan) {
  const auto left = std::find_if(plan.waiting.begin(), plan.waiting.end(),
                                 [job](const LeftWaiting& waiting) { return waiting.Has(job); });
  if (left != plan.waiting.end()) {
    return LeftWaiting{job, left->ReasonOf(job), left->also, left->priority, 1};
  }
  LeftWaiting unknown;
  unknown.job = job;
  unknown.reason.kind = ReasonKind::kNotPlannedYet;
  return unknown;
}

bool Starts(JobId job, const Plan& plan) {
  return std::any_of(plan.starts.begin(), plan.starts.end(),
                     [job](const PlannedStart& start) { return start.job == job; });
}

// All reasons in words; of a job behind another also what that one waits for.
std::string Summary(const LeftWaiting& left, const Plan& plan) {
  if (Starts(left.job, plan)) {
    return "about to start";
  }
  std::string text = ToSentence(left.reason);
  if (left.reason.kind == ReasonKind::kPriority) {
    absl::StrAppend(&text,
                    "; that one waits: ", ToSentence(WhyLeft(left.reason.behind, plan).reason));
  }
  for (const Reason& further : left.also) {
    absl::StrAppend(&text, "; also ", ToSentence(further));
  }
  return text;
}

NodeAnswer AnswerOf(const Snapshot& snapshot, const NodeSnapshot& node, const WaitingJob& job) {
  const ResourceRequest& request = job.spec->request;
  NodeAnswer answer;
  answer.node = node.name;
  if (!NodeMayByPolicy(snapshot, node, job, snapshot.now, EndBy(*job.spec, snapshot.now))) {
    answer.text = "not in its partition, or reserved";
    return answer;
  }
  const std::vector<Shortage> shortages = ShortagesOf(node, request);
  answer.fits = shortages.empty();
  for (const Shortage& shortage : shortages) {
    absl::StrAppend(&answer.text, answer.text.empty() ? "" : ", ", ToSentence(shortage));
  }
  if (answer.fits) {
    const std::uint32_t limit = MostTasksOnNode(request);
    answer.text = absl::StrCat("has room for ", PlaceOnNode(node, request, limit).tasks, " of ",
                               request.tasks, request.tasks == 1 ? " task" : " tasks");
  }
  return answer;
}

}  // namespace

Explanation ExplainWaiting(const Snapshot& snapshot, JobId job, const Plan& plan,
                           const SchedulerConfig& config) {
  Explanation explanation;
  const std::optional<WaitingJob> waiting = FindWaiting(snapshot, job);
  if (!waiting.has_value()) {
    explanation.summary = "does not wait";
    return explanation;
  }
  const LeftWaiting left = WhyLeft(job, plan);
  explanation.reason = left.reason;
  explanation.summary = Summary(left, plan);
  if (const QueuePriority priority(snapshot, config); priority.reckoned()) {
    explanation.priority = priority.Of(*waiting);
  }
  for (const NodeSnapshot& node : snapshot.nodes) {
    explanation.nodes.push_back(AnswerOf(snapshot, node, *waiting));
  }
  return explanation;
}

}  // namespace muster::core

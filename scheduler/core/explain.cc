#include "scheduler/core/explain.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/core/feasibility.h"
#include "scheduler/core/placement.h"
#include "scheduler/core/snapshot_builder.h"
#include "scheduler/model/reason.h"

namespace muster {
namespace {

std::string Named(JobId job) {
  return absl::StrCat("job ", ToString(job));
}

Reason ReasonOf(JobId job, const Plan& plan) {
  const auto left = std::find_if(plan.waiting.begin(), plan.waiting.end(),
                                 [job](const LeftWaiting& waiting) { return waiting.job == job; });
  if (left != plan.waiting.end()) {
    return left->reason;
  }
  Reason reason;
  reason.kind = ReasonKind::kNotPlannedYet;
  return reason;
}

bool Starts(JobId job, const Plan& plan) {
  return std::any_of(plan.starts.begin(), plan.starts.end(),
                     [job](const PlannedStart& start) { return start.job == job; });
}

// The reason in words; of a job behind another also what that one waits for.
std::string Summary(JobId job, const Reason& reason, const Plan& plan) {
  if (Starts(job, plan)) {
    return absl::StrCat(Named(job), " is about to start");
  }
  std::string text =
      absl::StrCat(Named(job), " waits: ", Name(reason.kind), ": ", ToSentence(reason));
  if (reason.kind == ReasonKind::kPriority) {
    absl::StrAppend(&text, "; that one waits: ", ToSentence(ReasonOf(reason.behind, plan)));
  }
  return text;
}

NodeAnswer AnswerOf(const NodePicture& node, const ResourceRequest& request) {
  NodeAnswer answer;
  answer.node = node.name;
  const std::vector<Shortage> shortages = ShortagesOf(node, request);
  answer.fits = shortages.empty();
  for (const Shortage& shortage : shortages) {
    absl::StrAppend(&answer.text, answer.text.empty() ? "" : ", ", ToSentence(shortage));
  }
  if (answer.fits) {
    const std::uint32_t limit = request.tasks_per_node > 0 ? request.tasks_per_node : request.tasks;
    answer.text = absl::StrCat("has room for ", PlaceOnNode(node, request, limit).tasks, " of ",
                               request.tasks, request.tasks == 1 ? " task" : " tasks");
  }
  return answer;
}

std::string GpuList(const std::vector<GpuGrant>& gpus) {
  std::string list;
  for (const GpuGrant& grant : gpus) {
    absl::StrAppend(&list, list.empty() ? "" : ",", grant.gpu);
  }
  return list;
}

NodeAnswer PlaceOf(const NodeAllocation& part) {
  NodeAnswer answer;
  answer.node = part.name;
  answer.fits = true;
  answer.text = absl::StrCat(part.ranks.size(), part.ranks.size() == 1 ? " rank" : " ranks",
                             " on CPUs ", part.cpus.ToList());
  if (!part.mem_nodes.Empty()) {
    absl::StrAppend(&answer.text, ", memory nodes ", part.mem_nodes.ToList());
  }
  if (!part.gpus.empty()) {
    absl::StrAppend(&answer.text, ", GPUs ", GpuList(part.gpus));
  }
  return answer;
}

Explanation ExplainPlace(const Job& job) {
  Explanation explanation;
  const std::size_t nodes = job.attempt->allocation.nodes.size();
  explanation.summary = absl::StrCat(Named(job.id), " is ", Name(job.state), " on ", nodes,
                                     nodes == 1 ? " node" : " nodes",
                                     ", the fewest and tightest that held it when it started");
  for (const NodeAllocation& part : job.attempt->allocation.nodes) {
    explanation.nodes.push_back(PlaceOf(part));
  }
  return explanation;
}

}  // namespace

Explanation ExplainWaiting(const Snapshot& snapshot, JobId job, const Plan& plan) {
  Explanation explanation;
  const auto waiting = std::find_if(snapshot.waiting.begin(), snapshot.waiting.end(),
                                    [job](const WaitingJob& other) { return other.id == job; });
  if (waiting == snapshot.waiting.end()) {
    explanation.summary = absl::StrCat(Named(job), " does not wait");
    return explanation;
  }
  explanation.reason = ReasonOf(job, plan);
  explanation.summary = Summary(job, explanation.reason, plan);
  for (const NodePicture& node : snapshot.nodes) {
    explanation.nodes.push_back(AnswerOf(node, waiting->spec->request));
  }
  return explanation;
}

Explanation ExplainJob(const ClusterState& state, const Job& job, const Plan* plan, Time now) {
  if (job.attempt.has_value()) {
    return ExplainPlace(job);
  }
  Snapshot snapshot;
  snapshot.version = state.version();
  snapshot.now = now;
  snapshot.nodes = PicturesOf(state);
  WaitingJob waiting;
  waiting.id = job.id;
  waiting.spec = job.spec;
  snapshot.waiting.push_back(std::move(waiting));
  return ExplainWaiting(snapshot, job.id, plan != nullptr ? *plan : Plan());
}

}  // namespace muster

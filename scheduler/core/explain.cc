#include "scheduler/core/explain.h"

#include <algorithm>

#include "scheduler/core/feasibility.h"

namespace muster {

Explanation ExplainWaiting(const Snapshot& snapshot, JobId job, const Plan& plan) {
  Explanation explanation;
  explanation.reason.kind = ReasonKind::kNotPlannedYet;
  const auto left = std::find_if(plan.waiting.begin(), plan.waiting.end(),
                                 [&](const LeftWaiting& waiting) { return waiting.job == job; });
  if (left != plan.waiting.end()) {
    explanation.reason = left->reason;
  }
  explanation.summary = ToSentence(explanation.reason);
  const auto waiting = std::find_if(snapshot.waiting.begin(), snapshot.waiting.end(),
                                    [&](const WaitingJob& other) { return other.id == job; });
  if (waiting == snapshot.waiting.end()) {
    return explanation;
  }
  for (const NodePicture& node : snapshot.nodes) {
    Reason lacking;
    lacking.kind = ReasonKind::kResources;
    lacking.nodes = 1;
    lacking.shortages = ShortagesOf(node, waiting->spec->request);
    const bool fits = lacking.shortages.empty();
    explanation.nodes.push_back(
        NodeAnswer{node.name, fits, fits ? "could take its share now" : ToSentence(lacking)});
  }
  return explanation;
}

}  // namespace muster

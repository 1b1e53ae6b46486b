#include "cli/run/joined_place.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr StepId kOwnStep{1};  // of a run job

absl::Status Refused(const JobDetail& job, const std::string& text) {
  return absl::FailedPreconditionError(absl::StrCat("job ", job.job.label, ": ", text));
}

// The step whose rank is meant.
absl::StatusOr<StepId> StepOf(const JobDetail& job, const WantedPlace& wanted) {
  if (wanted.step.has_value() && wanted.step->valid()) {
    return *wanted.step;
  }
  if (!job.batch) {
    return kOwnStep;
  }
  std::vector<std::string> running;
  StepId step;
  for (const StepView& each : job.steps) {
    if (each.state == "RUNNING" && each.step.valid()) {
      running.push_back(absl::StrCat(job.job.label, ".", each.step.value()));
      step = each.step;
    }
  }
  if (running.size() == 1) {
    return step;
  }
  return running.empty()
             ? Refused(job, "no step of it runs: leave --rank out to enter beside its script")
             : Refused(job, absl::StrCat("--rank: of which step? Name ",
                                         absl::StrJoin(running, " or ")));
}

// The rank that is wanted; of several the first, as of the step or of the node. Null: it is not
// known to run.
const RankView* RankIn(const AttemptView& attempt, StepId step, const WantedPlace& wanted) {
  const RankView* found = nullptr;
  for (const RankView& rank : attempt.ranks) {
    const bool fits = rank.step == step && rank.rank == wanted.rank.value_or(rank.rank) &&
                      (wanted.node.empty() || rank.node == wanted.node);
    if (fits && (found == nullptr || rank.rank < found->rank)) {
      found = &rank;
    }
  }
  return found;
}

}  // namespace

absl::StatusOr<JoinedPlace> FindPlace(const JobDetail& job, const WantedPlace& wanted) {
  if (job.attempts.empty() || job.attempts.back().nodes.empty() || job.job.end_time != kNoTime) {
    return Refused(job, absl::StrCat("is ", job.job.state, "; ", wanted.verb, " needs it running"));
  }
  const AttemptView& attempt = job.attempts.back();
  const auto& nodes = attempt.nodes;
  if (!wanted.node.empty() && std::find(nodes.begin(), nodes.end(), wanted.node) == nodes.end()) {
    return Refused(job, absl::StrCat("--node: ", Quote(wanted.node),
                                     " is none of its nodes; it has ", absl::StrJoin(nodes, ", ")));
  }
  const bool of_step = wanted.step.has_value() && wanted.step->valid();
  if (!wanted.rank.has_value() && !of_step) {
    return JoinedPlace{wanted.node.empty() ? nodes.front() : wanted.node, JoinedRank{}};
  }
  ASSIGN_OR_RETURN(const StepId step, StepOf(job, wanted));
  const RankView* const found = RankIn(attempt, step, wanted);
  if (found == nullptr) {
    const std::string which =
        wanted.rank.has_value() ? absl::StrCat("no rank ", *wanted.rank) : std::string("no rank");
    return Refused(job, absl::StrCat("step ", step.value(), " has ", which,
                                     wanted.node.empty() ? "" : absl::StrCat(" on ", wanted.node),
                                     " that is known to run; see muster show ", job.job.label));
  }
  return JoinedPlace{found->node, JoinedRank{step, found->rank}};
}

}  // namespace muster::cli

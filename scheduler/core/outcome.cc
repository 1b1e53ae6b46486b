#include "scheduler/core/outcome.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster {
namespace {

// What went wrong on a node, worst first; what a node says of itself alone.
std::optional<JobState> StateOf(EndCause cause) {
  switch (cause) {
    case EndCause::kNodeRebooted:
    case EndCause::kNodeLostRecord:
      return JobState::kNodeFail;
    case EndCause::kOutOfMemory:
      return JobState::kOutOfMemory;
    case EndCause::kTimeLimit:
      return JobState::kTimeout;
    case EndCause::kLaunchFailed:
    case EndCause::kLostSupervisor:
      return JobState::kFailed;
    case EndCause::kNone:
    case EndCause::kExited:
    case EndCause::kCancelled:
    case EndCause::kNeverStarted:
    case EndCause::kJobEnding:
      return std::nullopt;
  }
  return std::nullopt;
}

const char* TextOf(EndCause cause) {
  switch (cause) {
    case EndCause::kNodeRebooted:
      return "the node rebooted";
    case EndCause::kNodeLostRecord:
      return "the node's agent came back without its record of the job";
    case EndCause::kOutOfMemory:
      return "out of memory";
    case EndCause::kTimeLimit:
      return "reached its time limit";
    case EndCause::kLaunchFailed:
      return "could not be started";
    case EndCause::kLostSupervisor:
      return "its supervisor died";
    default:
      return "";
  }
}

// A batch job ends as its script did; a run job as the first rank that failed.
const NodeRun& Deciding(const JobSpec& spec, const Attempt& attempt) {
  if (spec.kind == JobKind::kRun) {
    for (const NodeRun& run : attempt.runs) {
      if (!run.status.success()) {
        return run;
      }
    }
  }
  return attempt.runs.front();
}

}  // namespace

Outcome OutcomeOf(const JobSpec& spec, const Attempt& attempt) {
  MUSTER_CHECK(!attempt.runs.empty());
  const NodeRun& deciding = Deciding(spec, attempt);
  Outcome outcome;
  outcome.status = deciding.status;
  for (std::size_t i = 0; i < attempt.runs.size(); ++i) {
    const NodeRun& run = attempt.runs[i];
    if (const std::optional<JobState> state = StateOf(run.cause)) {
      outcome.state = *state;
      outcome.status = run.status;
      outcome.text = absl::StrCat(attempt.allocation.nodes[i].name, ": ",
                                  run.text.empty() ? TextOf(run.cause) : run.text);
      return outcome;
    }
  }
  if (attempt.ending == EndCause::kCancelled && deciding.cause != EndCause::kExited) {
    outcome.state = JobState::kCancelled;
    outcome.text = attempt.ending_text;
    return outcome;
  }
  outcome.state = outcome.status.success() ? JobState::kCompleted : JobState::kFailed;
  outcome.text = deciding.text;
  return outcome;
}

}  // namespace muster

#include "scheduler/core/handle/attempts/outcome.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/core/policy/deadline.h"

namespace muster::core {
namespace {

// What a node says went wrong there; the worst of all nodes decides.
struct Failure {
  EndCause cause;
  JobState state;
};
constexpr auto kFailures = std::to_array<Failure>({
    // worst first
    {EndCause::kNodeRebooted, JobState::kNodeFail},
    {EndCause::kNodeLostRecord, JobState::kNodeFail},
    {EndCause::kPrologFailed, JobState::kNodeFail},
    {EndCause::kOutOfMemory, JobState::kOutOfMemory},
    {EndCause::kTimeLimit, JobState::kTimeout},
    {EndCause::kHung, JobState::kFailed},
    {EndCause::kLaunchFailed, JobState::kFailed},
    {EndCause::kLostSupervisor, JobState::kFailed},
});

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
    case EndCause::kHung:
      return "showed no progress for as long as it may";
    case EndCause::kLaunchFailed:
      return "could not be started";
    case EndCause::kPrologFailed:
      return "the prolog failed";
    case EndCause::kLostSupervisor:
      return "its supervisor died";
    default:
      return "";
  }
}

// True when a --no-kill job went on without that node.
bool WentOnWithout(const JobSpec& spec, const Attempt& attempt, const NodeRun& run) {
  return spec.no_kill && IsNodeFailure(run.cause) &&
         (spec.kind == JobKind::kRun
              ? std::any_of(attempt.runs.begin(), attempt.runs.end(),
                            [](const NodeRun& other) { return !IsNodeFailure(other.cause); })
              : &run != attempt.runs.data());
}

// A batch job ends as its script did. A run job ends as the first node whose ranks failed by
// themselves; where none did, as the first that did not end in order.
std::size_t Deciding(const JobSpec& spec, const Attempt& attempt) {
  if (spec.kind != JobKind::kRun) {
    return 0;
  }
  const auto first = [&](auto&& matches) {
    return static_cast<std::size_t>(
        std::find_if(attempt.runs.begin(), attempt.runs.end(), matches) - attempt.runs.begin());
  };
  const std::size_t failed = first(
      [](const NodeRun& run) { return run.cause == EndCause::kExited && !run.status.success(); });
  if (failed < attempt.runs.size()) {
    return failed;
  }
  const std::size_t cut_short = first([&](const NodeRun& run) {
    return (run.cause != EndCause::kExited || !run.status.success()) &&
           !WentOnWithout(spec, attempt, run);
  });
  if (cut_short < attempt.runs.size()) {
    return cut_short;
  }
  const std::size_t kept =
      first([&](const NodeRun& run) { return !WentOnWithout(spec, attempt, run); });
  return kept < attempt.runs.size() ? kept : 0;
}

std::string Sentence(const std::string& node, const NodeRun& run) {
  return absl::StrCat(node, ": ", run.text.empty() ? TextOf(run.cause) : run.text);
}

// The worst that a node says went wrong there, if any does.
std::optional<Outcome> WorstFailureOf(const JobSpec& spec, const Attempt& attempt) {
  for (const Failure& failure : kFailures) {
    for (std::size_t i = 0; i < attempt.runs.size(); ++i) {
      const NodeRun& run = attempt.runs[i];
      if (WentOnWithout(spec, attempt, run)) {
        continue;
      }
      if (run.cause == EndCause::kTimeLimit && failure.cause == run.cause &&
          LimitFrom(spec, CountedFrom(attempt, run.ended)) != spec.time_limit) {
        return Outcome{JobState::kDeadline, run.status,
                       absl::StrCat(attempt.allocation.nodes[i].name, ": reached its deadline")};
      }
      if (run.cause == failure.cause) {
        return Outcome{failure.state, run.status, Sentence(attempt.allocation.nodes[i].name, run),
                       IsNodeFailure(run.cause) || run.cause == EndCause::kPrologFailed};
      }
    }
  }
  return std::nullopt;
}

// The first error of a GPU that a rank met, wherever it ran.
std::string FirstGpuError(const Attempt& attempt) {
  for (const NodeRun& run : attempt.runs) {
    if (!run.gpu_errors.empty()) {
      return run.gpu_errors.front();
    }
  }
  return "";
}

Outcome EndOf(const JobSpec& spec, const Attempt& attempt) {
  if (std::optional<Outcome> worst = WorstFailureOf(spec, attempt)) {
    if (attempt.ending == EndCause::kNodeLostRecord && !attempt.ending_text.empty()) {
      worst->text = attempt.ending_text;
    }
    return *std::move(worst);
  }
  const std::size_t deciding = Deciding(spec, attempt);
  const NodeRun& run = attempt.runs[deciding];
  Outcome outcome{JobState::kFailed, run.status, run.text};
  if (attempt.ending == EndCause::kLaunchFailed) {
    outcome.text = attempt.ending_text;
    outcome.status = run.status.success() ? ExitStatus{1, 0} : run.status;
  } else if (attempt.ending == EndCause::kPreempted ||
             attempt.ending == EndCause::kPreemptedToRequeue) {
    outcome.state = JobState::kPreempted;
    outcome.text = attempt.ending_text;
  } else if (run.cause == EndCause::kExited) {
    outcome.state = run.status.success() ? JobState::kCompleted : JobState::kFailed;
  } else if (attempt.ending == EndCause::kCancelled || run.cause == EndCause::kCancelled) {
    outcome.state = JobState::kCancelled;
    outcome.text = attempt.ending_text;
  } else {
    outcome.text = absl::StrCat(attempt.allocation.nodes[deciding].name,
                                ": was ended before its work was done");
  }
  return outcome;
}

}  // namespace

Outcome OutcomeOf(const JobSpec& spec, const Attempt& attempt) {
  MUSTER_CHECK(!attempt.runs.empty());
  Outcome outcome = EndOf(spec, attempt);
  if (const std::string error = FirstGpuError(attempt);
      !error.empty() && !IsSuccess(outcome.state)) {
    absl::StrAppend(&outcome.text, outcome.text.empty() ? "" : "; ", error);
  }
  return outcome;
}

}  // namespace muster::core

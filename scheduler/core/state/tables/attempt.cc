#include "scheduler/core/state/tables/attempt.h"

#include <algorithm>
#include <set>
#include <type_traits>
#include <utility>

#include "scheduler/base/status.h"

namespace muster::core {
namespace {

// A job is never left without any time at all.
constexpr Duration kLeastRest = std::chrono::minutes(1);

void TakeIn(NodeRun& run, const RunStarted& fact) {
  run.phase = RunPhase::kStarted;
  run.started = fact.time;
  run.limits = fact.limits;
  run.image = fact.image;
  run.data = fact.data;
  run.data.gone.clear();
}

// A job may run steps without end: of those that are over, no more than that is kept.
void LeaveOut(const Attempt& attempt, NodeRun& run, StepId last) {
  if (run.bindings.size() <= kBindingsKept) {
    return;
  }
  std::size_t excess = run.bindings.size() - kBindingsKept;
  std::set<BindingVerdict> shown;
  std::erase_if(run.bindings, [&](const RankBinding& rank) {
    const bool runs =
        rank.step == last || std::any_of(attempt.steps.begin(), attempt.steps.end(),
                                         [&](const StepRun& step) { return step.id == rank.step; });
    if (shown.insert(rank.verdict).second || runs || excess == 0) {
      return false;
    }
    --excess;
    ++run.ranks_left_out;
    run.verified_left_out += rank.verdict == BindingVerdict::kVerified ? 1 : 0;
    return true;
  });
}

void TakeIn(const Attempt& attempt, NodeRun& run, const BindingRead& fact) {
  run.bindings.insert(run.bindings.end(), fact.ranks.begin(), fact.ranks.end());
  LeaveOut(attempt, run, fact.ranks.empty() ? StepId() : fact.ranks.back().step);
}

void TakeIn(NodeRun& run, const RunEnded& fact) {
  run.phase = RunPhase::kEnded;
  run.ended = fact.time;
  run.cause = fact.cause;
  run.status = fact.status;
  run.usage = fact.usage;
  run.text = fact.text;
  run.gpu_errors = fact.gpu_errors;
  run.gpu_work = fact.gpu_work;
  std::set<std::pair<StepId, std::uint32_t>> kept;
  for (const RankBinding& rank : run.bindings) {
    kept.emplace(rank.step, rank.rank);
  }
  std::erase_if(run.gpu_work, [&kept](const RankGpuWork& rank) {
    return kept.count({rank.step, rank.rank}) == 0;
  });
}

// A node may know of suspensions and resumptions that a state does not which was restored from a
// copy. They are counted by the next number that is for what the state says: suspensions have odd
// numbers.
void TakeIn(Attempt& attempt, NodeRun& run, const RunSuspended& fact) {
  constexpr std::uint32_t kUnknownMost = 1000;  // more, no node has carried out
  if (fact.suspension > attempt.suspension) {
    const std::uint32_t unknown = fact.suspension - attempt.suspension;
    if (unknown > kUnknownMost) {
      return;
    }
    attempt.suspension += unknown + unknown % 2;
  }
  run.suspension = std::max(run.suspension, fact.suspension);
}

void TakeIn(NodeRun& run, const RunCheckpointed& fact) {
  run.checkpoints = fact.record;
}

// A step goes once all its nodes have ended it.
void LeaveSteps(Attempt& attempt, NodeId node) {
  for (StepRun& step : attempt.steps) {
    std::erase(step.waiting_for, node);
  }
  std::erase_if(attempt.steps, [](const StepRun& step) { return step.waiting_for.empty(); });
}

void TakeIn(Attempt& attempt, NodeId node, const StepEnded& fact) {
  const auto step = std::find_if(attempt.steps.begin(), attempt.steps.end(),
                                 [&](const StepRun& run) { return run.id == fact.step; });
  if (step == attempt.steps.end()) {
    return;
  }
  std::erase(step->waiting_for, node);
  step->exits.insert(step->exits.end(), fact.ranks.begin(), fact.ranks.end());
  step->usage.Add(fact.usage);
  if (step->waiting_for.empty()) {
    attempt.steps.erase(step);
  }
}

}  // namespace

void TakeInReport(Attempt& attempt, NodeId node, const Report& report) {
  const std::optional<std::size_t> position = RunOn(attempt, node);
  MUSTER_CHECK(position.has_value());
  NodeRun& run = attempt.runs[*position];
  MUSTER_CHECK(report.index > run.reported && run.phase != RunPhase::kEnded);
  run.reported = report.index;
  std::visit(
      [&](const auto& fact) {
        if constexpr (std::is_same_v<std::decay_t<decltype(fact)>, StepEnded>) {
          TakeIn(attempt, node, fact);
        } else if constexpr (std::is_same_v<std::decay_t<decltype(fact)>, RunSuspended> ||
                             std::is_same_v<std::decay_t<decltype(fact)>, BindingRead>) {
          TakeIn(attempt, run, fact);
        } else {
          TakeIn(run, fact);
        }
        if constexpr (std::is_same_v<std::decay_t<decltype(fact)>, RunEnded>) {
          LeaveSteps(attempt, node);
        }
      },
      report.fact);
}

void TakeInStep(Attempt& attempt, const StepStarted& event) {
  const auto queued = std::find_if(attempt.queued_steps.begin(), attempt.queued_steps.end(),
                                   [&](const QueuedStep& step) { return step.id == event.step; });
  if (queued != attempt.queued_steps.end()) {
    attempt.queued_steps.erase(queued);
  } else {
    MUSTER_CHECK(event.step == attempt.last_step.Next());
    attempt.last_step = event.step;
  }
  StepRun step;
  step.id = event.step;
  step.name = event.name;
  step.placement = event.placement;
  step.started = event.time;
  for (const NodeAllocation& node : event.placement.nodes) {
    step.waiting_for.push_back(node.node);
  }
  step.exclusive = event.exclusive;
  step.own_memory = event.own_memory;
  attempt.steps.push_back(std::move(step));
}

void TakeInStep(Attempt& attempt, const StepQueued& event) {
  MUSTER_CHECK(event.step == attempt.last_step.Next());
  attempt.last_step = event.step;
  attempt.queued_steps.push_back(QueuedStep{event.step, event.name, event.spec, event.time});
}

void TakeInStep(Attempt& attempt, const StepDropped& event) {
  std::erase_if(attempt.queued_steps,
                [&](const QueuedStep& step) { return step.id == event.step; });
}

std::optional<std::size_t> RunOn(const Attempt& attempt, NodeId node) {
  for (std::size_t i = 0; i < attempt.allocation.nodes.size(); ++i) {
    if (attempt.allocation.nodes[i].node == node) {
      return i;
    }
  }
  return std::nullopt;
}

bool AllStarted(const Attempt& attempt) {
  return std::all_of(attempt.runs.begin(), attempt.runs.end(),
                     [](const NodeRun& run) { return run.phase != RunPhase::kOrdered; });
}

bool AllFrozen(const Attempt& attempt) {
  return IsToBeFrozen(attempt) &&
         std::all_of(attempt.runs.begin(), attempt.runs.end(), [&](const NodeRun& run) {
           return run.phase == RunPhase::kEnded || run.suspension == attempt.suspension;
         });
}

NodeAllocation HeldPart(const Attempt& attempt, std::size_t position) {
  NodeAllocation part = attempt.allocation.nodes[position];
  if (!HoldsCores(attempt)) {
    part.cpus = CpuSet();
  }
  return part;
}

bool AllEnded(const Attempt& attempt) {
  return std::all_of(attempt.runs.begin(), attempt.runs.end(),
                     [](const NodeRun& run) { return run.phase == RunPhase::kEnded; });
}

JobSpec ForTheRest(JobSpec spec, const Attempt& attempt, Time now) {
  if (spec.time_limit > Duration(0)) {
    const Duration used = std::max(now - CountedFrom(attempt, now), Duration(0));
    spec.time_limit = std::max(spec.time_limit - used, std::min(kLeastRest, spec.time_limit));
  }
  return spec;
}

}  // namespace muster::core

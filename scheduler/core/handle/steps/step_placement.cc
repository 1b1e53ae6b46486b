#include "scheduler/core/handle/steps/step_placement.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/contains.h"
#include "scheduler/base/status.h"
#include "scheduler/core/place/layout_check.h"
#include "scheduler/core/place/nodes/node_selection.h"
#include "scheduler/core/place/order_size.h"
#include "scheduler/core/place/rank_layout.h"
#include "scheduler/core/place/request.h"
#include "scheduler/model/machine/amounts.h"

namespace muster::core {
namespace {

// Which steps under way count as being in the way.
enum class Beside { kAll, kExclusive, kNone };

// What steps under way have of the job's part of a node.
struct Held {
  CpuSet cpus;
  std::set<std::uint32_t> gpus;
  Bytes memory;
};

bool IsOn(const StepRun& step, NodeId node) {
  return std::find(step.waiting_for.begin(), step.waiting_for.end(), node) !=
         step.waiting_for.end();
}

Held HeldOn(const Attempt& attempt, NodeId node, Beside beside) {
  Held held;
  for (const StepRun& step : attempt.steps) {
    if (beside == Beside::kNone || (beside == Beside::kExclusive && !step.exclusive) ||
        !IsOn(step, node)) {
      continue;
    }
    for (const NodeAllocation& part : step.placement.nodes) {
      if (part.node != node) {
        continue;
      }
      held.cpus |= part.cpus;
      held.memory += step.own_memory ? part.memory : Bytes();
      for (const GpuGrant& grant : part.gpus) {
        held.gpus.insert(grant.gpu);
      }
    }
  }
  return held;
}

bool HasExclusive(const Attempt& attempt) {
  return std::any_of(attempt.steps.begin(), attempt.steps.end(),
                     [](const StepRun& step) { return step.exclusive; });
}

// What the step asks, in a job's terms.
struct Wanted {
  ResourceRequest request;
  std::vector<std::string> nodes;  // its own are among these; empty: among all
  bool all_gpus = false;           // of the job's on its nodes
  bool own_memory = false;
};

// The job's own part of a node as a node: everything else, and what steps hold, counts as taken.
NodeSnapshot OwnPart(const ClusterState& state, const NodeAllocation& part, const Held& held,
                     const Wanted& wanted) {
  const Node& node = *state.FindNode(part.node);
  NodeSnapshot snapshot{node.id, node.name, node.machine, true, false, NodeUse(), {}};
  const CpuSet all = AllCpus(*node.machine);
  snapshot.taken.cpus = (all - part.cpus) | held.cpus;
  snapshot.taken.gpus.assign(node.machine->gpus.size(), kWholeGpu);
  for (const GpuGrant& grant : part.gpus) {
    snapshot.taken.gpus[grant.gpu] = held.gpus.count(grant.gpu) == 0 ? GpuShare() : kWholeGpu;
  }
  if (wanted.all_gpus && !held.gpus.empty()) {
    snapshot.taken.cpus = all;
  }
  if (wanted.own_memory) {
    const Bytes free = part.memory - std::min(held.memory, part.memory);
    snapshot.taken.memory = node.machine->memory - std::min(free, node.machine->memory);
  }
  return snapshot;
}

std::vector<NodeSnapshot> OwnParts(const ClusterState& state, const Attempt& attempt,
                                   const Wanted& wanted, Beside beside) {
  std::vector<NodeSnapshot> parts;
  for (std::size_t i = 0; i < attempt.runs.size(); ++i) {
    const NodeAllocation& part = attempt.allocation.nodes[i];
    if (attempt.runs[i].phase != RunPhase::kEnded && Admits(wanted.nodes, part.name)) {
      parts.push_back(OwnPart(state, part, HeldOn(attempt, part.node, beside), wanted));
    }
  }
  return parts;
}

// What the step's layout says, checked as a job's is; with the job's GPUs, unless it has its own.
absl::Status CheckStepLayout(ResourceRequest& request, const Job& job) {
  if (!request.layout.has_value()) {
    return absl::OkStatus();
  }
  ResourceRequest whole = request;
  whole.exclusive = job.spec->request.exclusive;
  if (request.gpus_per_node.count == 0 && request.gpus_per_task.count == 0) {
    whole.gpus_per_node = job.spec->request.gpus_per_node;
    whole.gpus_per_task = job.spec->request.gpus_per_task;
  }
  RETURN_IF_ERROR(BeginLayout(whole));
  RETURN_IF_ERROR(CompleteLayout(whole));
  RETURN_IF_ERROR(CheckGpuBind(whole));
  request.layout = whole.layout;
  return absl::OkStatus();
}

absl::Status CheckNodes(const StepSpec& spec, const Job& job) {
  const std::vector<NodeAllocation>& parts = job.attempt->allocation.nodes;
  for (const std::string& name : spec.nodelist) {
    if (std::none_of(parts.begin(), parts.end(),
                     [&](const NodeAllocation& part) { return part.name == name; })) {
      return absl::InvalidArgumentError(
          absl::StrCat("--nodelist: ", name, " is not a node of job ", ToString(job.id)));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Wanted> WantedBy(const StepSpec& spec, const Job& job) {
  const ResourceRequest& asked = job.spec->request;
  Wanted wanted;
  ResourceRequest& request = wanted.request;
  request.tasks = spec.tasks > 0 ? spec.tasks : std::max(asked.tasks, spec.nodes);
  request.cpus_per_task = spec.cpus_per_task > 0 ? spec.cpus_per_task : asked.cpus_per_task;
  request.min_nodes = std::max(spec.nodes, 1U);
  request.max_nodes = spec.nodes > 0 ? spec.nodes : request.tasks;
  request.overcommit = spec.overcommit || asked.overcommit;
  request.exclusive = false;
  request.layout = spec.layout;
  if (request.tasks < request.min_nodes) {
    return absl::InvalidArgumentError(absl::StrCat("--ntasks: ", request.tasks, " for ",
                                                   request.min_nodes,
                                                   " nodes; every node needs a task"));
  }
  if (spec.gpus.count > 0 || spec.gpus_per_task.count > 0) {
    request.gpus = spec.gpus;
    request.gpus_per_task = spec.gpus_per_task;
    request.own_gpus = spec.gpus_per_task.count > 0;
    RETURN_IF_ERROR(FillGpus(request));
  } else if (!spec.no_gpus && asked.gpu_share.zero() && asked.gpus_per_task.count > 0) {
    request.gpus_per_task = asked.gpus_per_task;
    request.own_gpus = asked.own_gpus;
  } else {
    wanted.all_gpus = !spec.no_gpus;
  }
  RETURN_IF_ERROR(CheckNodes(spec, job));
  wanted.nodes = spec.nodelist;
  request.memory_per_node = spec.memory_per_node;
  wanted.own_memory = !spec.memory_per_node.zero();
  RETURN_IF_ERROR(CheckStepLayout(request, job));
  return wanted;
}

// A step of the job's own shape takes the places that were planned for the job's ranks.
bool IsTheJobsOwnShape(const StepSpec& spec, const Job& job) {
  const ResourceRequest& asked = job.spec->request;
  const std::vector<NodeRun>& runs = job.attempt->runs;
  return !spec.layout.has_value() && !spec.no_gpus && spec.nodelist.empty() &&
         spec.memory_per_node.zero() && spec.gpus.count == 0 && spec.gpus_per_task.count == 0 &&
         (spec.tasks == 0 || spec.tasks == asked.tasks) &&
         (spec.cpus_per_task == 0 || spec.cpus_per_task == asked.cpus_per_task) &&
         (spec.nodes == 0 || spec.nodes == runs.size()) &&
         std::none_of(runs.begin(), runs.end(),
                      [](const NodeRun& run) { return run.phase == RunPhase::kEnded; });
}

// The job's places, of which the step has what its ranks run on.
Allocation JobsPlaces(const Allocation& whole) {
  Allocation places = whole;
  for (NodeAllocation& part : places.nodes) {
    CpuSet used;
    for (const RankPlacement& rank : part.ranks) {
      used |= rank.cpus;
    }
    part.cpus = used.Empty() ? part.cpus : used;
  }
  return places;
}

// All GPUs of the job on the node are the step's; each rank's nearest first.
void GiveGpus(const NodeAllocation& whole, NodeAllocation& part) {
  part.gpus = whole.gpus;
  const std::size_t gpus = whole.gpus.size();
  const std::size_t ranks = part.ranks.size();
  for (std::size_t i = 0; i < ranks && gpus > 0; ++i) {
    part.ranks[i].gpus.clear();
    if (gpus < ranks) {
      part.ranks[i].gpus.push_back(whole.gpus[i * gpus / ranks].gpu);
      continue;
    }
    for (std::size_t k = i * gpus / ranks; k < (i + 1) * gpus / ranks; ++k) {
      part.ranks[i].gpus.push_back(whole.gpus[k].gpu);
    }
  }
}

// What PlaceJob gave the step, as parts of what the job has.
void Complete(const ClusterState& state, const Attempt& attempt, const Wanted& wanted,
              Allocation& place) {
  for (NodeAllocation& part : place.nodes) {
    const auto whole =
        std::find_if(attempt.allocation.nodes.begin(), attempt.allocation.nodes.end(),
                     [&](const NodeAllocation& other) { return other.node == part.node; });
    part.memory = wanted.own_memory ? wanted.request.memory_per_node : whole->memory;
    if (wanted.all_gpus) {
      GiveGpus(*whole, part);
    }
    for (GpuGrant& grant : part.gpus) {
      const auto own = std::find_if(whole->gpus.begin(), whole->gpus.end(),
                                    [&](const GpuGrant& other) { return other.gpu == grant.gpu; });
      grant.share = own->share;
    }
    GiveDevices(wanted.request, *state.FindNode(part.node)->machine, part);
  }
}

absl::Status TooMuch(const Attempt& attempt, const Wanted& wanted) {
  std::size_t nodes = 0;
  Amounts held;
  for (std::size_t i = 0; i < attempt.runs.size(); ++i) {
    if (attempt.runs[i].phase != RunPhase::kEnded) {
      ++nodes;
      held += AmountsOf(attempt.allocation.nodes[i]);
    }
  }
  const ResourceRequest& asked = wanted.request;
  std::string what =
      absl::StrCat("the step asks ", asked.tasks, " tasks of ", asked.cpus_per_task, " CPUs");
  std::string has = absl::StrCat(nodes, " nodes with ", held.cpus, " CPUs");
  if (asked.gpus_per_task.count > 0) {
    absl::StrAppend(&what, " and ", asked.gpus_per_task.count, " GPUs");
  } else if (asked.gpus_per_node.count > 0) {
    absl::StrAppend(&what, ", and ", asked.gpus_per_node.count, " GPUs on a node");
  }
  if (asked.gpus_per_task.count + asked.gpus_per_node.count > 0) {
    absl::StrAppend(&has, " and ", held.gpus, " GPUs");
  }
  return absl::InvalidArgumentError(
      absl::StrCat(what, wanted.own_memory ? ", with memory of its own" : "",
                   "; the allocation has ", has, ": ask for fewer, or use --overcommit"));
}

// "step 7.1", "steps 7.1 and 7.2", "5 steps": those that have something to themselves.
std::string HoldersOf(const Job& job) {
  std::vector<std::string> names;
  for (const StepRun& step : job.attempt->steps) {
    if (step.exclusive) {
      names.push_back(absl::StrCat(job.id.value(), ".", step.id.value()));
    }
  }
  return names.size() == 1   ? absl::StrCat("step ", names[0])
         : names.size() == 2 ? absl::StrCat("steps ", names[0], " and ", names[1])
                             : absl::StrCat(names.size(), " steps");
}

std::string WaitText(const Job& job, const Wanted& wanted) {
  const Attempt& attempt = *job.attempt;
  const Amounts whole = AmountsOf(attempt.allocation);
  std::uint32_t busy_cpus = 0;
  std::size_t busy_gpus = 0;
  for (const NodeAllocation& part : attempt.allocation.nodes) {
    const Held held = HeldOn(attempt, part.node, Beside::kExclusive);
    busy_cpus += held.cpus.Count();
    busy_gpus += held.gpus.size();
  }
  std::string text = absl::StrCat(busy_cpus, " of its ", whole.cpus, " CPUs");
  const bool wants_gpus =
      wanted.all_gpus ||
      wanted.request.gpus_per_task.count + wanted.request.gpus_per_node.count > 0;
  if (wants_gpus && busy_gpus > 0) {
    absl::StrAppend(&text, " and ", busy_gpus, " of its ", whole.gpus, " GPUs");
  }
  return absl::StrCat(text, " are in use by ", HoldersOf(job));
}

}  // namespace

absl::StatusOr<StepPlace> PlaceStep(const ClusterState& state, const Job& job,
                                    const StepSpec& spec) {
  const Attempt& attempt = *job.attempt;
  const bool own_shape = IsTheJobsOwnShape(spec, job);
  if (own_shape && attempt.steps.empty()) {
    return StepPlace{JobsPlaces(attempt.allocation), ""};
  }
  ASSIGN_OR_RETURN(const Wanted wanted, WantedBy(spec, job));
  const auto place = [&](Beside beside) {
    std::optional<Allocation> found =
        PlaceJob(OwnParts(state, attempt, wanted, beside), wanted.request, ClusterView::kAsIs);
    if (found.has_value()) {
      Complete(state, attempt, wanted, *found);
    }
    return found;
  };
  std::optional<Allocation> found = place(Beside::kAll);
  if (!found.has_value()) {
    found = place(spec.overlap ? Beside::kNone : Beside::kExclusive);
  }
  if (found.has_value()) {
    RETURN_IF_ERROR(CheckStepPlacement(*found));
    return StepPlace{*std::move(found), ""};
  }
  if (own_shape && (spec.overlap || !HasExclusive(attempt))) {
    return StepPlace{JobsPlaces(attempt.allocation), ""};
  }
  if (!own_shape && (spec.overlap || !place(Beside::kNone).has_value())) {
    return TooMuch(attempt, wanted);
  }
  return StepPlace{Allocation(), WaitText(job, wanted)};
}

}  // namespace muster::core

#include "scheduler/core/step_placement.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/core/layout_check.h"
#include "scheduler/core/rank_layout.h"
#include "scheduler/core/span.h"

namespace muster {
namespace {

// A picture of the job's own part of a node: everything else, and `busy`, counts as taken.
NodePicture OwnPart(const ClusterState& state, const NodeAllocation& part, const CpuSet& busy) {
  const Node& node = *state.FindNode(part.node);
  NodePicture picture{node.id, node.name, node.machine, true, false, NodeUse(), {}};
  picture.taken.cpus = (AllCpus(*node.machine) - part.cpus) | busy;
  picture.taken.gpus.assign(node.machine->gpus.size(), kWholeGpu);
  for (const GpuGrant& grant : part.gpus) {
    picture.taken.gpus[grant.gpu] = GpuShare();
  }
  return picture;
}

CpuSet BusyOn(const Attempt& attempt, NodeId node) {
  CpuSet busy;
  for (const StepRun& step : attempt.steps) {
    for (const NodeAllocation& part : step.placement.nodes) {
      if (part.node == node) {
        busy |= part.cpus;
      }
    }
  }
  return busy;
}

ResourceRequest RequestOf(const StepSpec& spec, const Job& job) {
  const ResourceRequest& asked = job.spec->request;
  ResourceRequest request;
  request.tasks = spec.tasks > 0 ? spec.tasks : std::max(asked.tasks, spec.nodes);
  request.cpus_per_task = spec.cpus_per_task > 0 ? spec.cpus_per_task : asked.cpus_per_task;
  request.min_nodes = std::max(spec.nodes, 1U);
  request.max_nodes = spec.nodes > 0 ? spec.nodes : request.tasks;
  request.overcommit = spec.overcommit || asked.overcommit;
  request.exclusive = false;
  request.layout = spec.layout;
  return request;  // the job's memory and GPUs are already its own: the step's ranks share them
}

// A step of the job's own shape takes the places that were planned for the job's ranks.
bool IsTheJobsOwnShape(const StepSpec& spec, const Job& job) {
  const ResourceRequest& asked = job.spec->request;
  return job.attempt->steps.empty() && !spec.layout.has_value() &&
         (spec.tasks == 0 || spec.tasks == asked.tasks) &&
         (spec.cpus_per_task == 0 || spec.cpus_per_task == asked.cpus_per_task) &&
         (spec.nodes == 0 || spec.nodes == job.attempt->allocation.nodes.size());
}

// What the step's layout says, checked as a job's is; its GPUs are the job's.
absl::Status CheckStepLayout(ResourceRequest& request, const Job& job) {
  if (!request.layout.has_value()) {
    return absl::OkStatus();
  }
  ResourceRequest whole = request;
  whole.exclusive = job.spec->request.exclusive;
  whole.gpus_per_node = job.spec->request.gpus_per_node;
  whole.gpus_per_task = job.spec->request.gpus_per_task;
  RETURN_IF_ERROR(BeginLayout(whole));
  RETURN_IF_ERROR(CompleteLayout(whole));
  RETURN_IF_ERROR(CheckGpuBind(whole));
  request.layout = whole.layout;
  return absl::OkStatus();
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

}  // namespace

absl::StatusOr<Allocation> PlaceStep(const ClusterState& state, const Job& job,
                                     const StepSpec& spec) {
  const Attempt& attempt = *job.attempt;
  ResourceRequest request = RequestOf(spec, job);
  if (IsTheJobsOwnShape(spec, job)) {
    return attempt.allocation;
  }
  if (request.tasks < request.min_nodes) {
    return absl::InvalidArgumentError(absl::StrCat("--ntasks: ", request.tasks, " for ",
                                                   request.min_nodes,
                                                   " nodes; every node needs a task"));
  }
  RETURN_IF_ERROR(CheckStepLayout(request, job));
  std::vector<NodePicture> idle;
  std::vector<NodePicture> all;
  std::uint32_t cpus = 0;
  for (const NodeAllocation& part : attempt.allocation.nodes) {
    idle.push_back(OwnPart(state, part, BusyOn(attempt, part.node)));
    all.push_back(OwnPart(state, part, CpuSet()));
    cpus += part.cpus.Count();
  }
  std::optional<Allocation> place = PlaceJob(idle, request, ClusterView::kAsIs);
  if (!place.has_value()) {
    place = PlaceJob(all, request, ClusterView::kAsIs);
  }
  if (!place.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the step asks ", request.tasks, " tasks of ", request.cpus_per_task,
                     " CPUs; the allocation has ", attempt.allocation.nodes.size(), " nodes with ",
                     cpus, " CPUs: ask for fewer, or use --overcommit"));
  }
  for (NodeAllocation& part : place->nodes) {
    const auto whole =
        std::find_if(attempt.allocation.nodes.begin(), attempt.allocation.nodes.end(),
                     [&](const NodeAllocation& other) { return other.node == part.node; });
    part.memory = whole->memory;
    GiveGpus(*whole, part);
    GiveDevices(request.layout, *state.FindNode(part.node)->machine, part);
  }
  return *std::move(place);
}

}  // namespace muster

#include "scheduler/core/verify.h"

#include <algorithm>

namespace muster {

bool Verifier::Accept(const PlannedStart& start) {
  if (!JobWaits(start) || start.allocation.nodes.empty() ||
      !std::all_of(start.allocation.nodes.begin(), start.allocation.nodes.end(),
                   [this](const NodeAllocation& part) { return Fits(part); })) {
    return false;
  }
  for (const NodeAllocation& part : start.allocation.nodes) {
    NodeUse use = UseOf(part.node);
    AddUse(use, *state_.FindNode(part.node)->machine, part);
    use_[part.node] = use;
  }
  accepted_.insert(start.job);
  ++started_of_array_[state_.FindJob(start.job)->submission];
  return true;
}

bool Verifier::JobWaits(const PlannedStart& start) const {
  const Job* job = state_.FindJob(start.job);
  if (job == nullptr || job->state != JobState::kPending || job->held ||
      accepted_.contains(start.job)) {
    return false;
  }
  const std::uint32_t limit = job->spec->array.has_value() ? job->spec->array->max_running : 0;
  if (limit == 0) {
    return true;
  }
  const auto running = state_.array_running().find(job->submission);
  const auto started = started_of_array_.find(job->submission);
  const std::uint32_t now = (running == state_.array_running().end() ? 0 : running->second) +
                            (started == started_of_array_.end() ? 0 : started->second);
  return now < limit;
}

bool Verifier::Fits(const NodeAllocation& part) const {
  const Node* node = state_.FindNode(part.node);
  if (node == nullptr || !node->connected || node->drained) {
    return false;
  }
  const NodeUse use = UseOf(part.node);
  if (use.cpus.Meets(part.cpus) || !AllCpus(*node->machine).Includes(part.cpus) ||
      use.memory + part.memory > node->machine->memory) {
    return false;
  }
  return std::all_of(part.gpus.begin(), part.gpus.end(), [&](const GpuGrant& grant) {
    const GpuShare taken = grant.gpu < use.gpus.size() ? use.gpus[grant.gpu] : GpuShare();
    return grant.gpu < node->machine->gpus.size() && taken + grant.share <= kWholeGpu;
  });
}

NodeUse Verifier::UseOf(NodeId node) const {
  const auto found = use_.find(node);
  return found == use_.end() ? state_.FindNode(node)->taken : found->second;
}

}  // namespace muster

#include "scheduler/core/handle/verify.h"

#include <algorithm>
#include <set>
#include <utility>

#include "scheduler/core/mig/divided_node.h"
#include "scheduler/core/place/nodes/narrow_choice.h"
#include "scheduler/core/policy/job_partition.h"
#include "scheduler/core/policy/policy_filter.h"
#include "scheduler/core/state/job_group.h"
#include "scheduler/core/state/tables/attempt.h"
#include "scheduler/core/state/tables/charge.h"
#include "scheduler/core/state/tables/node_use.h"

namespace muster::core {

namespace {

// The switches above the state's nodes, which stand in the order of ids.
std::shared_ptr<const NodeTree> TreeOf(const ClusterState& state, const Network* network) {
  if (network == nullptr || state.narrow_links().all().empty()) {
    return nullptr;
  }
  std::vector<NodeSnapshot> nodes(state.nodes().size());
  std::transform(state.nodes().begin(), state.nodes().end(), nodes.begin(), [](const auto& entry) {
    NodeSnapshot node;
    node.name = entry.second.name;
    return node;
  });
  return std::make_shared<const NodeTree>(*network, nodes, state.narrow_links().all());
}

bool HasCpus(const Machine& machine, CpuSet cpus) {
  for (std::size_t i = 0; i < machine.cores.size() && !cpus.Empty(); ++i) {
    cpus -= machine.cores[i].cpus;
  }
  return cpus.Empty();
}

}  // namespace

Verifier::Verifier(const ClusterState& state, Time now, const Network* network)
    : state_(state), tree_(TreeOf(state, network)), now_(now), usage_(state.policy().snapshot()) {
  if (tree_ != nullptr) {
    for (const auto& [id, node] : state.nodes()) {
      ids_.push_back(id);
    }
  }
  for (const NodeId id : state.node_table().quarantining()) {
    for (const QuarantinedAttempt& attempt : state.FindNode(id)->quarantined) {
      quarantined_.insert(attempt.job);
    }
  }
}

bool Verifier::AcceptTogether(std::span<const PlannedStart> starts) {
  if (!IsWholeGroup(state_, starts)) {
    return false;
  }
  if (starts.size() > 1) {
    Verifier after = *this;
    if (!std::all_of(starts.begin(), starts.end(),
                     [&](const PlannedStart& start) { return after.AcceptOne(start); })) {
      return false;
    }
  }
  return std::all_of(starts.begin(), starts.end(),
                     [this](const PlannedStart& start) { return AcceptOne(start); });
}

bool Verifier::AcceptOne(const PlannedStart& start) {
  if (!JobWaits(start) || start.allocation.nodes.empty()) {
    return false;
  }
  const JobSpec& asked = *state_.FindJob(start.job)->spec;
  const ResourceRequest& request =
      asked.alternatives.empty() ? asked.request : asked.alternatives[start.alternative].request;
  if (!UsersAllow(asked.user.uid, request.exclusive_user, start.allocation, {}) ||
      !OccupantsAllow(request, start.allocation) || SpansNarrow(start.allocation)) {
    return false;
  }
  std::map<NodeId, NodeUse> after;
  for (const NodeAllocation& part : start.allocation.nodes) {
    if (after.contains(part.node) || !Fits(part, UseOf(part.node))) {
      return false;
    }
    NodeUse use = UseOf(part.node);
    AddUse(use, *state_.FindNode(part.node)->machine, part);
    after.emplace(part.node, std::move(use));
  }
  if (state_.policy().active() && !PolicyAllows(start)) {
    return false;
  }
  for (auto& [node, use] : after) {
    use_[node] = std::move(use);
  }
  AddUser(asked.user.uid, request.exclusive_user, start.allocation);
  accepted_.insert(start.job);
  ++started_of_array_[state_.FindJob(start.job)->submission];
  return true;
}

bool Verifier::IsThere(const PlannedVictim& victim) const {
  const Job* job = state_.FindJob(victim.job);
  return job != nullptr && job->attempt.has_value() && job->attempt->number == victim.attempt &&
         !IsComponent(*job) && job->attempt->ending == EndCause::kNone &&
         !victims_.contains(victim.job) && (!victim.suspend || IsRunning(job->state));
}

bool Verifier::AcceptResume(const PlannedResume& resume) {
  const Job* job = state_.FindJob(resume.job);
  if (job == nullptr || !IsSuspended(job->state) || !accepted_.insert(job->id).second ||
      job->attempt->number != resume.attempt ||
      job->attempt->suspended_by == SuspendedBy::kOperator) {
    return false;
  }
  if (HoldsCores(*job->attempt)) {
    return job->attempt->suspended_by == SuspendedBy::kReleased;
  }
  const std::vector<NodeAllocation>& parts = job->attempt->allocation.nodes;
  const bool free = std::all_of(parts.begin(), parts.end(), [this](const NodeAllocation& part) {
    const Node* node = state_.FindNode(part.node);
    return node->connected && !UseOf(part.node).cpus.Meets(part.cpus);
  });
  for (const NodeAllocation& part : free ? parts : std::vector<NodeAllocation>()) {
    NodeUse use = UseOf(part.node);
    use.cpus |= part.cpus;
    use_[part.node] = std::move(use);
  }
  return free;
}

bool Verifier::AcceptPreemption(const PlannedPreemption& preemption) {
  std::set<JobId> seen;
  if (!JobWaits(PlannedStart{preemption.job, preemption.allocation, "", 0, 0}) ||
      !std::all_of(preemption.victims.begin(), preemption.victims.end(),
                   [&](const PlannedVictim& victim) {
                     return IsThere(victim) && seen.insert(victim.job).second;
                   })) {
    return false;
  }
  const JobSpec& job = *state_.FindJob(preemption.job)->spec;
  if (!UsersAllow(job.user.uid, job.request.exclusive_user, preemption.allocation,
                  preemption.victims) ||
      !OccupantsAllow(job.request, preemption.allocation) || SpansNarrow(preemption.allocation)) {
    return false;
  }
  std::map<NodeId, NodeUse> after;
  for (const NodeAllocation& part : preemption.allocation.nodes) {
    after.emplace(part.node, UseOf(part.node));
  }
  for (const PlannedVictim& victim : preemption.victims) {
    const Attempt& attempt = *state_.FindJob(victim.job)->attempt;
    for (std::size_t i = 0; i < attempt.allocation.nodes.size(); ++i) {
      const NodeAllocation& part = attempt.allocation.nodes[i];
      const auto use = after.find(part.node);
      if (use == after.end()) {
        continue;
      }
      if (victim.suspend) {
        use->second.cpus -= part.cpus;  // the rest stays its own
      } else {
        SubtractUse(use->second, HeldPart(attempt, i));
      }
    }
  }
  for (const NodeAllocation& part : preemption.allocation.nodes) {
    if (!Fits(part, after[part.node])) {
      return false;
    }
  }
  // Until they are gone the node holds both: nobody else may count on either.
  for (const NodeAllocation& part : preemption.allocation.nodes) {
    NodeUse use = UseOf(part.node);
    CoverUse(use, *state_.FindNode(part.node)->machine, part);
    use_[part.node] = std::move(use);
  }
  for (const PlannedVictim& victim : preemption.victims) {
    victims_.insert(victim.job);
  }
  AddUser(job.user.uid, job.request.exclusive_user, preemption.allocation);
  accepted_.insert(preemption.job);
  return true;
}

bool Verifier::JobWaits(const PlannedStart& start) const {
  const Job* job = state_.FindJob(start.job);
  if (job == nullptr || !IsWaiting(job->state) || job->held || accepted_.contains(start.job) ||
      quarantined_.contains(start.job) || start.alternative >= AlternativesOf(*job->spec)) {
    return false;
  }
  const std::uint32_t limit = job->spec->array.has_value() ? job->spec->array->max_running : 0;
  if (limit == 0) {
    return true;
  }
  const auto running = state_.index().array_running().find(job->submission);
  const auto started = started_of_array_.find(job->submission);
  const std::uint32_t now =
      (running == state_.index().array_running().end() ? 0 : running->second) +
      (started == started_of_array_.end() ? 0 : started->second);
  return now < limit;
}

bool Verifier::SpansNarrow(const Allocation& allocation) const {
  const std::vector<NodeAllocation>& parts = allocation.nodes;
  if (parts.size() < 2) {
    return false;
  }
  std::vector<NodeShare> shares;
  for (const NodeAllocation& part : parts) {
    const Node* node = state_.FindNode(part.node);
    if (node == nullptr || node->narrow) {
      return true;
    }
    const auto at = std::lower_bound(ids_.begin(), ids_.end(), part.node);
    if (tree_ != nullptr) {
      shares.push_back(NodeShare{static_cast<std::uint32_t>(at - ids_.begin()), 1});
    }
  }
  return tree_ != nullptr && SpannedLink(shares, *tree_).has_value();
}

bool Verifier::Fits(const NodeAllocation& part, const NodeUse& taken) const {
  const Node* node = state_.FindNode(part.node);
  if (node == nullptr || !node->connected || node->drained || !state_.power().IsOn(part.node)) {
    return false;
  }
  NodeUse use = taken;
  if (part.cpus.Empty() || use.cpus.Meets(part.cpus) || !HasCpus(*node->machine, part.cpus) ||
      part.memory > node->machine->memory - std::min(use.memory, node->machine->memory)) {
    return false;
  }
  for (const GresCount& gres : part.gres) {
    if (gres.count + CountOf(use.gres, gres.name) > CountOf(node->machine->gres, gres.name)) {
      return false;
    }
  }
  const std::size_t gpus = node->machine->gpus.size();
  use.gpus.resize(std::max(use.gpus.size(), gpus));
  for (const GpuGrant& grant : part.gpus) {
    if (grant.gpu >= gpus || grant.share > kWholeGpu ||
        IsUnderWay(node->gpu_layouts, *node->machine, grant.gpu) ||
        use.gpus[grant.gpu] + grant.share > kWholeGpu) {
      return false;
    }
    use.gpus[grant.gpu] += grant.share;
  }
  return true;
}

bool Verifier::OccupantsAllow(const ResourceRequest& request, const Allocation& allocation) const {
  const auto is_free = [this](const NodeAllocation& part) {
    const Node* const node = state_.FindNode(part.node);
    return node != nullptr &&
           std::none_of(part.gpus.begin(), part.gpus.end(), [node](const GpuGrant& grant) {
             return IsOccupied(node->gpu_occupants, grant.gpu);
           });
  };
  return request.gpu_occupied ||
         std::all_of(allocation.nodes.begin(), allocation.nodes.end(), is_free);
}

bool Verifier::PolicyAllows(const PlannedStart& start) {
  const Job& job = *state_.FindJob(start.job);
  const JobSpec spec = AsChosen(*job.spec, start.alternative, start.tasks);
  const PolicySnapshot& policy = state_.policy().snapshot();
  const auto machine_of = [this](NodeId node) -> const Machine& {
    return *state_.FindNode(node)->machine;
  };
  const std::optional<JobPartition> partition = FindOwn(policy, spec, start.partition);
  if (!partition.has_value() || !MayStart(policy, spec, *partition, start.allocation, now_) ||
      !CheckLimits(usage_, AskOf(spec, partition->name, start.allocation, machine_of)).empty()) {
    return false;
  }
  usage_.Start(spec, ChargeOf(job.id, spec, partition->name, now_, start.allocation, machine_of));
  return true;
}

bool Verifier::UsersAllow(std::uint32_t user, bool alone, const Allocation& allocation,
                          const std::vector<PlannedVictim>& victims) const {
  if (!state_.index().by_user()) {
    return true;
  }
  return std::all_of(
      allocation.nodes.begin(), allocation.nodes.end(), [&](const NodeAllocation& part) {
        const auto accepted = users_.find(part.node);
        NodeUsers users = accepted == users_.end() ? NodeUsers() : accepted->second;
        for (const JobId holder : state_.JobsOn(part.node)) {
          const bool goes =
              std::any_of(victims.begin(), victims.end(), [holder](const PlannedVictim& victim) {
                return victim.job == holder && !victim.suspend;
              });
          if (!goes) {
            const JobSpec& other = *state_.FindJob(holder)->spec;
            users.Add(other.user.uid, other.request.exclusive_user);
          }
        }
        return users.Admit(user, alone);
      });
}

void Verifier::AddUser(std::uint32_t user, bool alone, const Allocation& allocation) {
  if (state_.index().by_user()) {
    for (const NodeAllocation& part : allocation.nodes) {
      users_[part.node].Add(user, alone);
    }
  }
}

NodeUse Verifier::UseOf(NodeId node) const {
  const auto found = use_.find(node);
  if (found != use_.end()) {
    return found->second;
  }
  const Node* known = state_.FindNode(node);
  return known == nullptr ? NodeUse() : known->taken;
}

}  // namespace muster::core
